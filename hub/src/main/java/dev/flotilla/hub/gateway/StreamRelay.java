package dev.flotilla.hub.gateway;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.flotilla.hub.gateway.AttemptFailed.Blame;
import dev.flotilla.hub.gateway.Upstream.Call;
import dev.flotilla.hub.server.ClientConnection;
import dev.flotilla.wire.ApiError;
import dev.flotilla.wire.ApiErrors;
import dev.flotilla.wire.ChunkScan;
import dev.flotilla.wire.EngineError;
import dev.flotilla.wire.ReplyMalformed;
import dev.flotilla.wire.SseReader;
import java.io.IOException;
import java.io.OutputStream;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Carries one streamed reply to its client, event by event.
 *
 * <p>Only whole events are sent, with one flush for all that one read brought. Until the first
 * event is sound nothing is sent, not even the head, so that another target can be tried. After it,
 * a stream that does not come to a finish reason and {@code [DONE]} ends with one error event,
 * without a finish reason of the hub's making and without {@code [DONE]}: no client takes half an
 * answer for a whole one.
 *
 * <p>Nothing is made per event: the event lies in the reader's buffer and goes from there into the
 * listener's. For the request's thread.
 */
final class StreamRelay {
  private static final byte[] DONE = "data: [DONE]\n\n".getBytes(US_ASCII);

  private final Call call;
  private final Exchange exchange;
  private final ClientConnection client;
  private final SseReader events;
  private final ChunkScan chunk;
  private final boolean usageWanted;
  private final Supplier<OutputStream> begin;
  private final LongSupplier nanoClock;
  private @Nullable OutputStream out;
  private boolean finished;
  private boolean unflushed;
  private boolean stalled;

  /**
   * @param usageWanted whether the client itself asked for the chunk with the usage
   * @param begin sends the head, at the first sound event
   */
  StreamRelay(
      Call call,
      Exchange exchange,
      ClientConnection client,
      int eventBytesMax,
      boolean usageWanted,
      Supplier<OutputStream> begin,
      LongSupplier nanoClock) {
    this.call = call;
    this.exchange = exchange;
    this.client = client;
    this.events = new SseReader(call.reply().body(), eventBytesMax);
    this.chunk = new ChunkScan(exchange.model);
    this.usageWanted = usageWanted;
    this.begin = begin;
    this.nanoClock = nanoClock;
  }

  /**
   * Relays to the end.
   *
   * @return null where the stream ended whole, otherwise why it was cut; the client has then been
   *     told
   * @throws AttemptFailed where it failed before the first byte to the client
   */
  @Nullable String relay() throws AttemptFailed, ClientGone {
    String cut;
    try {
      cut = pass();
    } catch (AttemptFailed failed) {
      if (out == null) {
        throw failed;
      }
      cut = failed.reason();
      stalled = failed.stalled();
    }
    OutputStream to = out;
    if (cut == null && to != null) {
      end(to);
    } else if (to != null) {
      tell(to, String.valueOf(cut));
    }
    return cut;
  }

  /** Whether the stream was cut because its target was silent for too long. */
  boolean stalled() {
    return stalled;
  }

  /** Passes events on until {@code [DONE]}; says what is wrong where something is. */
  private @Nullable String pass() throws AttemptFailed, ClientGone {
    while (next()) {
      if (!events.hasData()) {
        comment();
        continue;
      }
      if (events.isDone()) {
        return finished ? null : broken("ended the stream without a finish reason");
      }
      if (!events.validUtf8()) {
        return broken("sent an event that is not UTF-8");
      }
      if (!chunk.scan(events.dataBuffer(), events.dataStart(), events.dataLength())) {
        return broken("sent an event that is not a JSON object");
      }
      EngineError error = chunk.error();
      if (error != null) {
        return failed(error);
      }
      event();
    }
    return broken(
        events.leftover() > 0
            ? "ended the stream in the middle of an event"
            : "ended the stream without " + (finished ? "its end mark" : "a finish reason"));
  }

  private boolean next() throws AttemptFailed, ClientGone {
    try {
      if (!events.moreBuffered()) {
        flush();
        if (out != null) {
          call.deadline().awaitChunk();
        }
      }
      return events.next();
    } catch (ReplyMalformed malformed) {
      throw AttemptFailed.answered(
          Upstream.words(malformed), Blame.TARGET, badStream(Upstream.words(malformed)));
    } catch (IOException cut) {
      throw call.failed(cut);
    } finally {
      if (out != null) {
        call.deadline().pause();
      }
    }
  }

  private void event() throws ClientGone {
    if (chunk.usage() != null) {
      exchange.usage = chunk.usage();
    }
    if (chunk.timings() != null) {
      exchange.timings = chunk.timings();
    }
    if (chunk.choices() == 0 && chunk.usage() != null && !usageWanted) {
      return;
    }
    finished |= chunk.finished();
    OutputStream to = out;
    try {
      if (to == null) {
        exchange.firstByteNanos = nanoClock.getAsLong();
        to = begin.get();
        out = to;
      }
      chunk.writeEvent(to, events);
      unflushed = true;
    } catch (IOException | RuntimeException unwritable) {
      throw new ClientGone();
    }
  }

  /** A comment keeps a connection alive; before the first event there is none to keep. */
  private void comment() throws ClientGone {
    OutputStream to = out;
    if (to != null) {
      try {
        to.write(events.buffer(), events.start(), events.length());
        unflushed = true;
      } catch (IOException | RuntimeException unwritable) {
        throw new ClientGone();
      }
    }
  }

  private void flush() throws ClientGone {
    OutputStream to = out;
    if (to == null || !unflushed) {
      return;
    }
    client.writing();
    try {
      to.flush();
      unflushed = false;
    } catch (IOException | RuntimeException unwritable) {
      throw new ClientGone();
    } finally {
      client.written();
    }
  }

  private String broken(String reason) throws AttemptFailed {
    if (out == null) {
      throw AttemptFailed.answered(reason, Blame.TARGET, badStream(reason));
    }
    return reason;
  }

  private String failed(EngineError error) throws AttemptFailed {
    String reason = "failed: " + (error.message().isEmpty() ? "no reason given" : error.message());
    if (out == null) {
      throw AttemptFailed.answered(reason, Blame.DOUBTFUL, badStream(reason));
    }
    return reason;
  }

  private static ApiError badStream(String reason) {
    return ApiError.badGateway("upstream_failed", "the worker " + reason);
  }

  private void end(OutputStream to) throws ClientGone {
    client.writing();
    try {
      to.write(DONE);
      to.flush();
    } catch (IOException | RuntimeException unwritable) {
      throw new ClientGone();
    } finally {
      client.written();
    }
  }

  /** The one error event; the connection is closed by whoever reads the answer of relay(). */
  private void tell(OutputStream to, String reason) throws ClientGone {
    String target = exchange.target == null ? "the worker" : exchange.target.name();
    ApiError error =
        new ApiError(
            502,
            "server_error",
            "stream_cut",
            "the answer is incomplete: " + target + " " + reason + "; ask again",
            null,
            null);
    exchange.errorCode = error.code();
    client.writing();
    try {
      to.write(ApiErrors.event(error));
      to.flush();
    } catch (IOException | RuntimeException unwritable) {
      throw new ClientGone();
    } finally {
      client.written();
    }
  }

  /** Reads what follows {@code [DONE]}: nothing, if the connection is to carry another reply. */
  void drain() {
    try {
      if (events.next()) {
        call.connection().close();
      }
    } catch (IOException closed) {
      call.connection().close();
    }
  }
}
