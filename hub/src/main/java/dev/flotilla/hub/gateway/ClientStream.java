package dev.flotilla.hub.gateway;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.flotilla.server.http.ClientConnection;
import dev.flotilla.wire.http.SseReader;
import dev.flotilla.wire.openai.ApiError;
import dev.flotilla.wire.openai.ApiErrors;
import dev.flotilla.wire.openai.ChunkScan;
import dev.flotilla.wire.text.Json;
import java.io.IOException;
import java.io.OutputStream;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * The stream to a client: whole events, with one flush for all that one read from an engine
 * brought. The head is sent with the first event; until then another target can be tried, or an
 * error be told by its status. Afterwards an error is one event, and the connection is closed
 * without {@code [DONE]}, so that no client takes half an answer for a whole one. For the request's
 * thread.
 */
final class ClientStream {
  private static final byte[] DATA = "data: ".getBytes(US_ASCII);
  private static final byte[] END = "\n\n".getBytes(US_ASCII);
  private static final byte[] DONE = "data: [DONE]\n\n".getBytes(US_ASCII);

  private final ClientConnection client;
  private final Supplier<OutputStream> begin;
  private final Runnable ending;
  private @Nullable OutputStream out;
  private boolean unflushed;
  private long sent;

  /**
   * @param begin sends the head, and gives what the events are written to
   * @param ending what comes before the last event: who has that may ask again at once
   */
  ClientStream(ClientConnection client, Supplier<OutputStream> begin, Runnable ending) {
    this.client = client;
    this.begin = begin;
    this.ending = ending;
  }

  /** Whether the client has got the head. */
  boolean begun() {
    return out != null;
  }

  /** Events until now. */
  long sent() {
    return sent;
  }

  /** An engine's event as it came, but for the model's name. */
  void event(ChunkScan chunk, SseReader event) throws ClientGone {
    try {
      chunk.writeEvent(out(), event);
      unflushed = true;
      sent++;
    } catch (IOException | RuntimeException unwritable) {
      throw new ClientGone();
    }
  }

  /** An event of the hub's own making. */
  void chunk(ObjectNode chunk) throws ClientGone {
    byte[] json = Json.MAPPER.writeValueAsBytes(chunk);
    try {
      OutputStream to = out();
      to.write(DATA);
      to.write(json);
      to.write(END);
      unflushed = true;
      sent++;
    } catch (IOException | RuntimeException unwritable) {
      throw new ClientGone();
    }
  }

  private OutputStream out() {
    OutputStream to = out;
    if (to == null) {
      to = begin.get();
      out = to;
    }
    return to;
  }

  void flush() throws ClientGone {
    if (unflushed) {
      last(new byte[0]);
      unflushed = false;
    }
  }

  /** The end of a whole stream. */
  void done() throws ClientGone {
    ending.run();
    last(DONE);
  }

  /** The end of a broken one. */
  void failed(ApiError error) throws ClientGone {
    ending.run();
    client.partAfterReply();
    last(ApiErrors.event(error));
  }

  private void last(byte[] bytes) throws ClientGone {
    try {
      OutputStream to = out();
      if (bytes.length > 0) {
        to.write(bytes);
      }
      to.flush();
    } catch (IOException | RuntimeException unwritable) {
      throw new ClientGone();
    }
  }
}
