package dev.flotilla.wire.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.flotilla.wire.connection.Connection;
import dev.flotilla.wire.connection.Deadlines;
import dev.flotilla.wire.http.ReplyBody.Framing;
import java.io.IOException;
import java.io.OutputStream;
import org.jspecify.annotations.Nullable;

/**
 * A strict HTTP/1.1 client over one connection, one exchange after the other.
 *
 * <p>It writes requests with a {@code Content-Length} and reads replies by RFC 9112; it understands
 * HTTP/1.0 and replies that end with the connection. Where the RFC leaves a reader the choice to be
 * lenient, it refuses: two lengths even where they agree, a length beside chunks, folded headers,
 * white space before a colon, lines that end without CR. Every size has its limit in {@link
 * Http1Limits}. It knows no time limits: {@link Deadlines} closes the connection under it.
 *
 * <p>Life cycle: {@link #exchange}, read the body, and if {@link HttpReply#reusable()}, the next
 * exchange; else {@link #close()}. One thread at a time; {@code close} alone may come from any.
 *
 * <p>A request goes out in one write where it is small, so that it is one segment on the wire and
 * one wake-up of the engine. A reply costs one buffer per connection and the strings of its head;
 * its body nothing.
 */
public final class Http1 implements AutoCloseable {
  /** Requests up to this size are copied together into one write. */
  private static final int ONE_WRITE_BYTES_MAX = 64 << 10;

  private final Connection connection;
  private final String host;
  private final Http1Limits limits;
  private final ReplyInput input;

  /** The reply of the last exchange; null where that failed, or there was none. */
  private @Nullable HttpReply last;

  private int exchanges;

  /**
   * @param host what the {@code Host} header says: a name or an address, and a port where it is not
   *     the scheme's own
   * @throws IllegalArgumentException if the host could not be written as one header
   */
  public Http1(Connection connection, String host, Http1Limits limits) {
    HttpHeaders.of("host", host);
    this.connection = connection;
    this.host = host;
    this.limits = limits;
    this.input = new ReplyInput(connection.input(), limits);
  }

  /**
   * Sends the call and waits for the head of its reply; interim (1xx) replies are passed over.
   *
   * @throws ReplyCutShort if the connection fails or ends first; its {@code beforeFirstByte} says
   *     whether anything at all had come
   * @throws ReplyMalformed if what comes is no HTTP reply, or goes beyond a limit
   * @throws IllegalStateException if the reply before this one does not allow another exchange
   */
  public HttpReply exchange(HttpCall call) throws IOException {
    if (exchanges > 0 && (last == null || !last.reusable())) {
      throw new IllegalStateException("the connection can't carry another exchange");
    }
    exchanges++;
    last = null;
    input.expectReply();
    send(call);
    for (int interim = 0; ; interim++) {
      ReplyHead head = ReplyHead.read(input, limits);
      if (head.status() >= 200) {
        HttpReply reply = reply(call, head);
        last = reply;
        return reply;
      }
      if (head.status() == 101) {
        throw new ReplyMalformed("the server switches protocols, which nobody asked for");
      }
      if (interim == limits.interimRepliesMax()) {
        throw new ReplyMalformed(
            "the server sent more than " + limits.interimRepliesMax() + " interim replies");
      }
    }
  }

  public Connection connection() {
    return connection;
  }

  @Override
  public void close() {
    connection.close();
  }

  private HttpReply reply(HttpCall call, ReplyHead head) {
    boolean bodiless = call.method().equals("HEAD") || head.status() == 204 || head.status() == 304;
    Framing framing =
        bodiless
            ? Framing.NONE
            : head.chunked()
                ? Framing.CHUNKED
                : head.contentLength() >= 0 ? Framing.LENGTH : Framing.CONNECTION_END;
    // A 204 that claims a body may send one: what then lies on the wire is anyone's guess.
    boolean doubtful = head.status() == 204 && (head.chunked() || head.contentLength() > 0);
    ReplyBody body = new ReplyBody(input, limits, framing, Math.max(0, head.contentLength()));
    return new HttpReply(head, body, input, head.keepAlive() && !doubtful);
  }

  private void send(HttpCall call) throws ReplyCutShort {
    byte[] head = head(call).getBytes(ISO_8859_1);
    byte[] body = call.body();
    int together = Math.min(body.length, Math.max(0, ONE_WRITE_BYTES_MAX - head.length));
    byte[] first = new byte[head.length + together];
    System.arraycopy(head, 0, first, 0, head.length);
    System.arraycopy(body, 0, first, head.length, together);
    try {
      OutputStream out = connection.output();
      out.write(first);
      if (together < body.length) {
        out.write(body, together, body.length - together);
      }
      out.flush();
    } catch (IOException e) {
      throw new ReplyCutShort("the request could not be sent to the server whole", true, e);
    }
  }

  private String head(HttpCall call) {
    StringBuilder head = new StringBuilder(256);
    head.append(call.method()).append(' ').append(call.target()).append(" HTTP/1.1\r\nHost: ");
    head.append(host).append("\r\n");
    HttpHeaders headers = call.headers();
    for (int i = 0; i < headers.size(); i++) {
      head.append(headers.name(i)).append(": ").append(headers.value(i)).append("\r\n");
    }
    if (call.body().length > 0 || !(call.method().equals("GET") || call.method().equals("HEAD"))) {
      head.append("Content-Length: ").append(call.body().length).append("\r\n");
    }
    return head.append("\r\n").toString();
  }
}
