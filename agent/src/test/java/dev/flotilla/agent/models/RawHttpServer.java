package dev.flotilla.agent.models;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A server that answers with whatever bytes a test wants, one request per connection, so that it
 * can break off, lie and stall where a real server can.
 */
final class RawHttpServer implements AutoCloseable {
  record Request(String method, String target, Map<String, String> headers) {
    String header(String name) {
      return headers.getOrDefault(name, "");
    }

    /** First byte asked for by a Range, 0 without one. */
    int rangeStart() {
      String range = header("range");
      return range.isEmpty() ? 0 : Integer.parseInt(range.replaceAll("bytes=(\\d+)-", "$1"));
    }
  }

  interface Handler {
    void answer(Request request, OutputStream out) throws IOException, InterruptedException;
  }

  final List<Request> requests = new CopyOnWriteArrayList<>();
  private final ServerSocket server;
  private final Thread acceptor;
  private volatile Handler handler;

  RawHttpServer(Handler handler) throws IOException {
    this.handler = handler;
    this.server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    this.acceptor = Thread.ofVirtual().start(this::accept);
  }

  void answerWith(Handler next) {
    handler = next;
  }

  String at(String path) {
    return "http://127.0.0.1:" + server.getLocalPort() + path;
  }

  URI address(String path) {
    return URI.create(at(path));
  }

  static void head(OutputStream out, String status, String... headers) throws IOException {
    out.write(
        ("HTTP/1.1 "
                + status
                + "\r\nConnection: close\r\n"
                + String.join("", java.util.Arrays.stream(headers).map(h -> h + "\r\n").toList())
                + "\r\n")
            .getBytes(StandardCharsets.US_ASCII));
  }

  /** A file server as it should be: ETag, Range, If-Range. */
  static Handler file(byte[] bytes, String etag) {
    return (request, out) -> {
      int from = request.rangeStart();
      String ifRange = request.header("if-range");
      if (from > 0 && (ifRange.isEmpty() || ifRange.equals(etag))) {
        if (from >= bytes.length) {
          head(out, "416 Range", "Content-Range: bytes */" + bytes.length, "Content-Length: 0");
          return;
        }
        head(
            out,
            "206 Partial",
            "ETag: " + etag,
            "Content-Range: bytes " + from + "-" + (bytes.length - 1) + "/" + bytes.length,
            "Content-Length: " + (bytes.length - from));
        out.write(bytes, from, bytes.length - from);
      } else {
        head(out, "200 OK", "ETag: " + etag, "Content-Length: " + bytes.length);
        if (!request.method().equals("HEAD")) {
          out.write(bytes);
        }
      }
    };
  }

  /** The same, but the connection breaks after {@code count} bytes of a body. */
  static Handler breakingAfter(int count, byte[] bytes, String etag) {
    return (request, out) -> {
      int from = request.rangeStart();
      if (from > 0) {
        head(
            out,
            "206 Partial",
            "ETag: " + etag,
            "Content-Range: bytes " + from + "-" + (bytes.length - 1) + "/" + bytes.length,
            "Content-Length: " + (bytes.length - from));
      } else {
        head(out, "200 OK", "ETag: " + etag, "Content-Length: " + bytes.length);
      }
      out.write(bytes, from, Math.min(count, bytes.length - from));
    };
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket socket = server.accept();
        Thread.ofVirtual().start(() -> serve(socket));
      } catch (IOException e) {
        return;
      }
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      InputStream in = new BufferedInputStream(socket.getInputStream());
      String[] first = line(in).split(" ", -1);
      Map<String, String> headers = new TreeMap<>();
      for (String line = line(in); !line.isEmpty(); line = line(in)) {
        int colon = line.indexOf(':');
        headers.put(
            line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 1).strip());
      }
      Request request = new Request(first[0], first[1], headers);
      requests.add(request);
      handler.answer(request, socket.getOutputStream());
    } catch (IOException | InterruptedException e) {
      // The client left, or the test is over.
    }
  }

  private static String line(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c; (c = in.read()) != '\n'; ) {
      if (c < 0) {
        throw new IOException("end");
      }
      if (c != '\r') {
        line.append((char) c);
      }
    }
    return line.toString();
  }

  /**
   * Only when nobody accepts any more has the kernel let go of the port: until then one may come
   * in.
   */
  @Override
  public void close() throws IOException {
    server.close();
    try {
      acceptor.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
