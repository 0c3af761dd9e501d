package dev.flotilla.bench.load;

import dev.flotilla.bench.dataset.Prompt;
import dev.flotilla.bench.measure.Chunks;
import dev.flotilla.bench.measure.RequestRecord;
import dev.flotilla.bench.measure.RequestRecord.CountedBy;
import dev.flotilla.bench.measure.RequestRecord.Kind;
import dev.flotilla.bench.measure.RequestRecord.Outcome;
import dev.flotilla.bench.measure.RequestRecord.Outcome.Failed;
import dev.flotilla.wire.connection.Deadline;
import dev.flotilla.wire.http.HttpReply;
import dev.flotilla.wire.http.SseReader;
import dev.flotilla.wire.openai.EngineError;
import dev.flotilla.wire.openai.OutputScan;
import java.io.IOException;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One reply as it is read: the times of its chunks, its text, its counts, its end. Read once, by
 * one thread; then {@link #record} says what was seen, also of a reply that broke off.
 */
final class StreamedReply {
  private final LoadLimits limits;
  private final LongSupplier nanos;
  private final Chunks chunks = new Chunks();
  private final OutputScan scan;
  private Optional<String> worker = Optional.empty();
  private long endNanos = -1;

  StreamedReply(LoadLimits limits, LongSupplier nanos) {
    this.limits = limits;
    this.nanos = nanos;
    this.scan = new OutputScan(limits.textBytesMax());
  }

  /**
   * Reads to the stream's own end; what follows it of the connection's framing is left to the
   * caller.
   *
   * @throws IOException where the reply breaks off, is none, or takes too long
   */
  Outcome read(HttpReply reply, Deadline deadline) throws IOException {
    worker = reply.headers().first("x-flotilla-worker");
    if (reply.status() != 200) {
      return Failures.status(reply.status(), reply.bytes(limits.errorBytesMax()));
    }
    String type = reply.headers().first("content-type").orElse("");
    if (!type.startsWith("text/event-stream")) {
      return noStream(reply.bytes(limits.errorBytesMax()), type);
    }
    ArrivalInput in = new ArrivalInput(reply.body(), nanos, deadline, limits.replyBytesMax());
    SseReader events = new SseReader(in, limits.eventBytesMax());
    boolean done = false;
    while (!done && events.next()) {
      endNanos = in.arrivedAt();
      done = events.isDone();
      if (!done && events.hasData()) {
        Failed failed = event(events, in);
        if (failed != null) {
          return failed;
        }
      }
    }
    if (!done) {
      endNanos = in.arrivedAt();
    }
    return ending(done);
  }

  private @Nullable Failed event(SseReader events, ArrivalInput in) {
    if (!scan.scan(events.dataBuffer(), events.dataStart(), events.dataLength())) {
      return Failures.malformed("an event of the stream is no JSON object");
    }
    EngineError error = scan.error();
    if (error != null) {
      return Failures.inBand(error);
    }
    if (scan.hasOutput()) {
      if (chunks.count() == 0) {
        in.outputSeen();
      }
      if (scan.countsTokens()) {
        chunks.add(in.arrivedAt(), scan.tokens());
      } else {
        chunks.add(in.arrivedAt());
      }
    }
    return null;
  }

  private Outcome ending(boolean done) {
    if (scan.finishReason() == null) {
      return new Failed(
          Kind.CUT,
          "the stream ended without a finish_reason" + (done ? "" : " and without [DONE]"));
    }
    if (chunks.count() == 0) {
      return new Failed(
          Kind.EMPTY,
          scan.tokens() > 0
              ? "a whole reply without output, though the server counts "
                  + scan.tokens()
                  + " tokens"
              : "a whole reply without output");
    }
    return new Outcome.Succeeded();
  }

  /**
   * A 200 that is no stream: an error that was given the wrong status, or another kind of server.
   */
  private Failed noStream(byte[] body, String type) {
    OutputScan whole = new OutputScan(1);
    boolean json = whole.scan(body, 0, body.length);
    EngineError error = whole.error();
    if (json && error != null) {
      return Failures.inBand(error);
    }
    return Failures.malformed(
        json && whole.choices() > 0
            ? "the server answers in one piece though a stream was asked for"
            : "the server answers 200 with "
                + (type.isEmpty() ? "no content type" : type)
                + ", which is no stream of OpenAI's API");
  }

  /** Whether anything came that a user would see. */
  boolean begun() {
    return chunks.count() > 0;
  }

  RequestRecord record(
      PreparedRequest request, long scheduledNanos, long sentNanos, Outcome outcome) {
    Prompt prompt = request.prompt();
    int counted = scan.tokens();
    boolean byServer = counted > 0 || (counted == 0 && chunks.count() == 0);
    return new RequestRecord(
        request.index(),
        prompt.name(),
        scheduledNanos,
        sentNanos,
        chunks,
        endNanos >= 0 && outcome instanceof Outcome.Succeeded ? endNanos : nanos.getAsLong(),
        scan.promptTokens() >= 0 ? scan.promptTokens() : prompt.inputTokens(),
        byServer ? counted : chunks.count(),
        prompt.maxTokens(),
        byServer ? CountedBy.SERVER : CountedBy.CHUNKS,
        Optional.ofNullable(scan.finishReason()),
        scan.output(),
        worker,
        outcome);
  }
}
