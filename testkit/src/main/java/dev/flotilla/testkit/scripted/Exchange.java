package dev.flotilla.testkit.scripted;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.time.Duration;

/**
 * One request at a {@link ScriptedEngine} and the means to answer it well or badly. What is written
 * goes out at once. For the thread that plays the script.
 */
public final class Exchange {
  private final ScriptedEngine engine;
  private final ReceivedRequest request;
  private final Socket socket;
  private final OutputStream out;
  private boolean dripping;
  private boolean closed;
  private boolean chunked;

  Exchange(ScriptedEngine engine, ReceivedRequest request, Socket socket) throws IOException {
    this.engine = engine;
    this.request = request;
    this.socket = socket;
    this.out = socket.getOutputStream();
  }

  public ReceivedRequest request() {
    return request;
  }

  public ScriptedEngine engine() {
    return engine;
  }

  /** From now on every byte is a write of its own. */
  public void drip() {
    dripping = true;
  }

  /** Writes bytes as they are. */
  public void raw(byte[] bytes) throws IOException {
    checkClient();
    if (dripping) {
      for (byte one : bytes) {
        out.write(one);
        out.flush();
      }
    } else {
      out.write(bytes);
      out.flush();
    }
  }

  /** Writes text as it is, in UTF-8. */
  public void raw(String text) throws IOException {
    raw(text.getBytes(UTF_8));
  }

  /** From now on a client that goes away has had its reply, or is about to. */
  public void lastBytes() {
    request.lastBytes();
  }

  /** Answers with a whole body and its length. */
  public void reply(int status, String contentType, byte[] body) throws IOException {
    byte[] head =
        (statusLine(status)
                + "Content-Type: "
                + contentType
                + "\r\nContent-Length: "
                + body.length
                + "\r\n\r\n")
            .getBytes(ISO_8859_1);
    byte[] whole = new byte[head.length + body.length];
    System.arraycopy(head, 0, whole, 0, head.length);
    System.arraycopy(body, 0, whole, head.length, body.length);
    checkClient();
    request.lastBytes();
    raw(whole);
  }

  public void json(int status, String json) throws IOException {
    reply(status, "application/json; charset=utf-8", json.getBytes(UTF_8));
  }

  /** Writes the head of a chunked stream of events. */
  public void startStream() throws IOException {
    chunked = true;
    raw(statusLine(200) + "Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
  }

  /** Writes the head of a stream of events that ends with the connection, as HTTP/1.0 has it. */
  public void startStreamHttp10() throws IOException {
    chunked = false;
    raw("HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
  }

  /** Writes one event with that data. */
  public void event(String data) throws IOException {
    if (data.equals("[DONE]")) {
      request.tellsTheEnd();
    }
    body(("data: " + data + "\n\n").getBytes(UTF_8));
    request.chunkSent();
  }

  /** Writes bytes of the stream's body, framed as its head said. */
  public void body(byte[] bytes) throws IOException {
    if (!chunked) {
      raw(bytes);
      return;
    }
    byte[] size = (Integer.toHexString(bytes.length) + "\r\n").getBytes(ISO_8859_1);
    byte[] framed = new byte[size.length + bytes.length + 2];
    System.arraycopy(size, 0, framed, 0, size.length);
    System.arraycopy(bytes, 0, framed, size.length, bytes.length);
    framed[framed.length - 2] = '\r';
    framed[framed.length - 1] = '\n';
    raw(framed);
  }

  /** Ends the stream in good order. */
  public void endStream() throws IOException {
    checkClient();
    request.lastBytes();
    if (chunked) {
      raw("0\r\n\r\n");
    } else {
      close();
    }
  }

  /**
   * Waits until the test lets the script on.
   *
   * @throws IOException if the client went away first, or nobody opens
   */
  public void await(Gate gate) throws IOException {
    if (!gate.awaitPass(this::abandoned)) {
      throw new IOException("the client went away, or nobody opened the gate");
    }
  }

  /** Lets time pass, in real time: for load that must look like a model's speed. */
  public void pause(Duration time) throws IOException {
    try {
      Thread.sleep(time);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("the engine was closed", e);
    }
    checkClient();
  }

  /** Whether nobody waits for this answer any more. */
  public boolean abandoned() {
    return request.goneAt().isPresent() || socket.isClosed();
  }

  /** Closes the connection in good order (FIN). */
  public void close() throws IOException {
    closed = true;
    socket.close();
  }

  /** Tears the connection down, as the death of a process with unread data does (RST). */
  public void reset() throws IOException {
    closed = true;
    socket.setSoLinger(true, 0);
    socket.close();
  }

  boolean closed() {
    return closed || socket.isClosed();
  }

  private void checkClient() throws IOException {
    if (abandoned()) {
      throw new IOException("the client went away");
    }
  }

  static String statusLine(int status) {
    String reason =
        switch (status) {
          case 200 -> "OK";
          case 400 -> "Bad Request";
          case 401 -> "Unauthorized";
          case 404 -> "Not Found";
          case 500 -> "Internal Server Error";
          case 501 -> "Not Implemented";
          case 503 -> "Service Unavailable";
          default -> "Status";
        };
    return "HTTP/1.1 " + status + " " + reason + "\r\n";
  }
}
