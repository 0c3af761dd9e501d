package dev.flotilla.testkit.client;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.flotilla.wire.http.HttpHeaders;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * An HTTP client on a bare socket, for what real clients never or seldom do: half a request, one
 * byte at a time, going away. It reads replies as they are, and waits no longer than {@link
 * #WAIT_MAX} for a byte, where nothing else is said.
 */
public final class TestClient implements AutoCloseable {
  public static final Duration WAIT_MAX = Duration.ofSeconds(20);

  private final Socket socket;
  private final InputStream in;

  private TestClient(Socket socket) throws IOException {
    this.socket = socket;
    this.in = new BufferedInputStream(socket.getInputStream());
  }

  /** Connects to a port of this machine. */
  public static TestClient connect(int port) {
    return connect(port, WAIT_MAX);
  }

  /** The same, for a server that may take longer for a byte: one that computes. */
  public static TestClient connect(int port, Duration waitMax) {
    Socket socket = new Socket();
    try {
      socket.setTcpNoDelay(true);
      socket.setSoTimeout((int) waitMax.toMillis());
      socket.connect(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), port), (int) WAIT_MAX.toMillis());
      return new TestClient(socket);
    } catch (IOException e) {
      throw new UncheckedIOException("nobody listens on port " + port, e);
    }
  }

  /** Sends text as it is. */
  public TestClient send(String text) {
    return send(text.getBytes(UTF_8));
  }

  /** Sends bytes as they are. */
  public TestClient send(byte[] bytes) {
    try {
      socket.getOutputStream().write(bytes);
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException("the server took no more", e);
    }
  }

  /** Sends a whole POST with a JSON body; each further argument is one header line. */
  public TestClient post(String path, String json, String... headers) {
    byte[] body = json.getBytes(UTF_8);
    return send(head("POST", path, headers)
            + "Content-Type: application/json\r\nContent-Length: "
            + body.length
            + "\r\n\r\n")
        .send(body);
  }

  /** Sends a whole GET; each further argument is one header line. */
  public TestClient get(String path, String... headers) {
    return send(head("GET", path, headers) + "\r\n");
  }

  /** Reads one whole reply, framed by its length, its chunks, or the end. */
  public Reply reply() {
    try {
      Head head = head();
      byte[] body;
      if (head.headers.first("transfer-encoding").isPresent()) {
        body = chunks();
      } else if (head.headers.first("content-length").isPresent()) {
        int length = Integer.parseInt(head.headers.first("content-length").get());
        body = in.readNBytes(length);
        if (body.length < length) {
          throw new IOException("the reply's body was cut short");
        }
      } else if (head.status == 204 || head.status == 304) {
        body = new byte[0];
      } else {
        body = in.readAllBytes();
      }
      return new Reply(head.status, head.headers, new String(body, UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e.getMessage(), e);
    }
  }

  /** Reads the head of a reply alone; its body follows with {@link #event()} or {@link #line()}. */
  public Reply replyHead() {
    try {
      Head head = head();
      return new Reply(head.status, head.headers, "");
    } catch (IOException e) {
      throw new UncheckedIOException(e.getMessage(), e);
    }
  }

  /** The data of the next event of a stream, whatever frames it; empty at the end of the bytes. */
  public String event() {
    try {
      for (String line; (line = line(in)) != null; ) {
        if (line.startsWith("data:")) {
          return line.substring(5).strip();
        }
      }
      return "";
    } catch (IOException e) {
      throw new UncheckedIOException(e.getMessage(), e);
    }
  }

  /** The next line as it is, without its end; empty at the end of the bytes too. */
  public String line() {
    try {
      String line = line(in);
      return line == null ? "" : line;
    } catch (IOException e) {
      throw new UncheckedIOException(e.getMessage(), e);
    }
  }

  /** Everything until the server closes the connection, in good order or not. */
  public String untilClosed() {
    ByteArrayOutputStream rest = new ByteArrayOutputStream();
    try {
      for (int c; (c = in.read()) >= 0; ) {
        rest.write(c);
      }
    } catch (SocketTimeoutException e) {
      throw new UncheckedIOException("the server keeps the connection open", e);
    } catch (IOException _) {
      // A reset closes it too.
    }
    return rest.toString(UTF_8);
  }

  /**
   * Whether nothing comes for so long, the end of the connection neither; what comes is dropped.
   */
  public boolean isKeptOpenFor(Duration time) {
    try {
      socket.setSoTimeout((int) time.toMillis());
      while (in.read() >= 0) {
        // what frames the bytes before
      }
      return false;
    } catch (SocketTimeoutException _) {
      return true;
    } catch (IOException _) {
      return false;
    }
  }

  /** Goes away in good order (FIN). */
  public void abandon() {
    close();
  }

  /** Goes away as a process that dies (RST). */
  public void reset() {
    try {
      socket.setSoLinger(true, 0);
    } catch (IOException _) {
      // It is closed already.
    }
    close();
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException _) {
      // What is to be gone is gone.
    }
  }

  /** A reply; the body in UTF-8. */
  public record Reply(int status, HttpHeaders headers, String body) {
    /** The first value of that header, empty where there is none. */
    public String header(String name) {
      return headers.first(name).orElse("");
    }
  }

  private record Head(int status, HttpHeaders headers) {}

  private Head head() throws IOException {
    String status = line(in);
    if (status == null) {
      throw new IOException("the server closed the connection without a reply");
    }
    if (!status.startsWith("HTTP/1.") || status.length() < 12) {
      throw new IOException("not a reply: " + status);
    }
    List<String> pairs = new ArrayList<>();
    for (String line; (line = line(in)) != null && !line.isEmpty(); ) {
      int colon = line.indexOf(':');
      pairs.add(line.substring(0, colon));
      pairs.add(line.substring(colon + 1).strip());
    }
    int code = Integer.parseInt(status.substring(9, 12));
    return code == 100 ? head() : new Head(code, HttpHeaders.of(pairs.toArray(String[]::new)));
  }

  private byte[] chunks() throws IOException {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    while (true) {
      String size = line(in);
      if (size == null) {
        throw new IOException("the reply's chunks were cut short after: " + body.toString(UTF_8));
      }
      int length = Integer.parseInt(size, 16);
      byte[] chunk = in.readNBytes(length);
      if (chunk.length < length) {
        throw new IOException("the reply's chunks were cut short after: " + body.toString(UTF_8));
      }
      body.writeBytes(chunk);
      String end = line(in);
      if (end == null) {
        throw new IOException("the reply's chunks were cut short after: " + body.toString(UTF_8));
      }
      if (length == 0) {
        return body.toByteArray();
      }
    }
  }

  private static String head(String method, String path, String... headers) {
    StringBuilder head =
        new StringBuilder(method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n");
    for (String header : headers) {
      head.append(header).append("\r\n");
    }
    return head.toString();
  }

  private static @org.jspecify.annotations.Nullable String line(InputStream in) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream(64);
    for (int c; (c = in.read()) != '\n'; ) {
      if (c < 0) {
        return line.size() == 0 ? null : line.toString(ISO_8859_1);
      }
      if (c != '\r') {
        line.write(c);
      }
    }
    return line.toString(UTF_8);
  }
}
