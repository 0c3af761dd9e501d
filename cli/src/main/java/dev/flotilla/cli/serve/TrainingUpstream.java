package dev.flotilla.cli.serve;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Locale;

/** The least of an OpenAI server, in this process: something to send the training's requests to. */
final class TrainingUpstream implements AutoCloseable {
  private static final int HEAD_BYTES_MAX = 32 * 1024;
  private static final int BODY_BYTES_MAX = 1 << 20;

  private static final String WHOLE =
      "{\"id\":\"c\",\"object\":\"chat.completion\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,"
          + "\"message\":{\"role\":\"assistant\",\"content\":\"Hi\"},\"finish_reason\":\"stop\"}],"
          + "\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1,\"total_tokens\":4}}";
  private static final String CHUNK =
      "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\","
          + "\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":%s}]}\n\n";

  private final ServerSocket server;

  TrainingUpstream() throws IOException {
    server = new ServerSocket(0, 64, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().name("training-upstream").start(this::accept);
  }

  int port() {
    return server.getLocalPort();
  }

  private void accept() {
    while (true) {
      try {
        Socket client = server.accept();
        Thread.ofVirtual().start(() -> serve(client));
      } catch (IOException e) {
        return; // Closed: the training is over.
      }
    }
  }

  private static void serve(Socket client) {
    try (client) {
      client.setTcpNoDelay(true);
      InputStream in = new BufferedInputStream(client.getInputStream());
      while (true) {
        String head = head(in);
        if (head.isEmpty()) {
          return;
        }
        String body = new String(in.readNBytes(length(head)), UTF_8);
        reply(client.getOutputStream(), body.contains("\"stream\":true"));
      }
    } catch (IOException e) {
      // The hub closed the connection, as it may.
    }
  }

  private static String head(InputStream in) throws IOException {
    StringBuilder head = new StringBuilder();
    while (head.length() < HEAD_BYTES_MAX) {
      int next = in.read();
      if (next < 0) {
        return "";
      }
      head.append((char) next);
      if (next == '\n' && head.toString().endsWith("\r\n\r\n")) {
        return head.toString();
      }
    }
    return "";
  }

  private static int length(String head) {
    String lower = head.toLowerCase(Locale.ROOT);
    int at = lower.indexOf("\r\ncontent-length:");
    if (at < 0) {
      return 0;
    }
    int from = at + "\r\ncontent-length:".length();
    int length = Integer.parseInt(lower.substring(from, lower.indexOf('\r', from)).strip());
    return Math.min(length, BODY_BYTES_MAX);
  }

  private static void reply(OutputStream out, boolean stream) throws IOException {
    if (!stream) {
      byte[] body = WHOLE.getBytes(UTF_8);
      String head =
          "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
              + body.length
              + "\r\n\r\n";
      out.write(head.getBytes(US_ASCII));
      out.write(body);
      out.flush();
      return;
    }
    out.write(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
            .getBytes(US_ASCII));
    for (int i = 0; i < 5; i++) {
      chunk(out, CHUNK.formatted("null"));
    }
    chunk(out, CHUNK.formatted("\"stop\""));
    chunk(out, "data: [DONE]\n\n");
    out.write("0\r\n\r\n".getBytes(US_ASCII));
    out.flush();
  }

  private static void chunk(OutputStream out, String text) throws IOException {
    byte[] bytes = text.getBytes(UTF_8);
    out.write((Integer.toHexString(bytes.length) + "\r\n").getBytes(US_ASCII));
    out.write(bytes);
    out.write("\r\n".getBytes(US_ASCII));
    out.flush();
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
