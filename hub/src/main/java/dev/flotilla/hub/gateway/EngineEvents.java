package dev.flotilla.hub.gateway;

import dev.flotilla.hub.gateway.AttemptFailed.Blame;
import dev.flotilla.hub.gateway.Upstream.Call;
import dev.flotilla.shape.reply.StreamShaper;
import dev.flotilla.wire.http.ReplyMalformed;
import dev.flotilla.wire.http.SseReader;
import dev.flotilla.wire.openai.ApiError;
import dev.flotilla.wire.openai.ChunkScan;
import dev.flotilla.wire.openai.EngineError;
import java.io.IOException;

/**
 * Reads the events of one streamed answer from its engine, and says of each whether it is sound.
 *
 * <p>A stream is whole when every choice has come to its finish and {@code [DONE]} or the end of
 * the body follows; without a finish it is a failure, whatever else came. Comments that keep a
 * connection alive are swallowed, and are no sign of life either: vLLM goes on with them when its
 * engine is dead, so the time between events runs on. For the request's thread.
 */
final class EngineEvents {
  private final Call call;
  private final Exchange exchange;
  private final SseReader events;
  private final ChunkScan chunk;
  private final StreamShaper shaper;
  private boolean begun;
  private boolean awaited;

  /** What is done before the thread waits for the engine. */
  @FunctionalInterface
  interface BeforeWaiting {
    void run() throws ClientGone;
  }

  EngineEvents(Call call, Exchange exchange, StreamShaper shaper, int eventBytesMax) {
    this.call = call;
    this.exchange = exchange;
    this.shaper = shaper;
    this.events = new SseReader(call.reply().body(), eventBytesMax);
    this.chunk = new ChunkScan(exchange.model);
  }

  /** The event that {@link #next} moved to, as it came. */
  SseReader event() {
    return events;
  }

  /** What was seen of it. */
  ChunkScan chunk() {
    return chunk;
  }

  /**
   * Moves to the next chunk.
   *
   * @return false where the answer has come to its end and is whole
   * @throws AttemptFailed where it is broken off or unsound
   */
  boolean next(BeforeWaiting beforeWaiting) throws AttemptFailed, ClientGone {
    while (read(beforeWaiting)) {
      if (!events.hasData()) {
        continue;
      }
      if (begun) {
        call.deadline().pause();
      }
      awaited = false;
      if (events.isDone()) {
        if (!shaper.finished()) {
          throw broken("ended the stream without a finish reason");
        }
        return false;
      }
      if (!events.validUtf8()) {
        throw broken("sent an event that is not UTF-8");
      }
      if (!chunk.scan(events.dataBuffer(), events.dataStart(), events.dataLength())) {
        throw noJson();
      }
      EngineError error = chunk.error();
      if (error != null) {
        throw failed(error);
      }
      if (!begun) {
        begun = true;
        call.deadline().pause();
      }
      count();
      return true;
    }
    if (events.leftover() > 0) {
      throw broken("ended the stream in the middle of an event");
    }
    if (!shaper.finished()) {
      throw broken("ended the stream without a finish reason");
    }
    return false;
  }

  private boolean read(BeforeWaiting beforeWaiting) throws AttemptFailed, ClientGone {
    try {
      if (!events.moreBuffered()) {
        beforeWaiting.run();
        if (begun && !awaited) {
          call.deadline().awaitChunk();
          awaited = true;
        }
      }
      return events.next();
    } catch (ReplyMalformed malformed) {
      throw broken(Upstream.words(malformed));
    } catch (IOException cut) {
      throw call.failed(cut);
    }
  }

  private void count() {
    if (chunk.usage() != null) {
      exchange.usage = chunk.usage();
    }
    if (chunk.timings() != null) {
      exchange.timings = chunk.timings();
    }
  }

  /** The event is no JSON object, as was seen at once or when it was taken apart. */
  AttemptFailed noJson() {
    return broken("sent an event that is not a JSON object");
  }

  private static AttemptFailed broken(String reason) {
    return AttemptFailed.answered(reason, Blame.TARGET, badStream(reason));
  }

  private static AttemptFailed failed(EngineError error) {
    String reason = "failed: " + (error.message().isEmpty() ? "no reason given" : error.message());
    return AttemptFailed.answered(reason, Blame.DOUBTFUL, badStream(reason));
  }

  private static ApiError badStream(String reason) {
    return ApiError.badGateway("upstream_failed", "the worker " + reason);
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
