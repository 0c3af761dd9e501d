package dev.flotilla.hub.gateway;

import dev.flotilla.hub.routing.Speeds;
import dev.flotilla.hub.routing.Target;
import dev.flotilla.hub.store.Journal;
import dev.flotilla.hub.store.Usage;
import dev.flotilla.wire.openai.EngineTimings;
import java.time.InstantSource;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/** Closes the loop at the end of each request: learned speeds, the usage log, metrics. */
public final class Recorder {
  /** How the reason begins where a target is only busy: that says nothing of its shape. */
  private static final String BUSY = "answered 503";

  /** How the reason begins where a stream held something that is no event. */
  private static final String SENT = "sent ";

  private final Speeds speeds;
  private final Journal journal;
  private final Metrics metrics;
  private final InstantSource clock;
  private final LongSupplier nanoClock;
  private final FaultNews news;
  private volatile Consumer<Target> served = _ -> {};
  private volatile TargetWatch watch = TargetWatch.NOBODY;

  /**
   * @param nanoClock a clock that never jumps, such as {@code System::nanoTime}
   */
  public Recorder(
      Speeds speeds,
      Journal journal,
      Metrics metrics,
      InstantSource clock,
      LongSupplier nanoClock) {
    this.speeds = speeds;
    this.journal = journal;
    this.metrics = metrics;
    this.clock = clock;
    this.nanoClock = nanoClock;
    this.news = new FaultNews(journal);
  }

  /** Tells {@code listener} of each target that served a request; to be called before any ends. */
  public Recorder onServed(Consumer<Target> listener) {
    served = listener;
    return this;
  }

  /** Lets somebody look at what targets do for clients; to be called before any request. */
  public Recorder watchedBy(TargetWatch looker) {
    watch = looker;
    return this;
  }

  /** One attempt failed, and another may follow. */
  void attemptFailed(Exchange exchange, AttemptFailed failed) {
    Target target = exchange.target;
    if (target != null) {
      if (failed.blame() == AttemptFailed.Blame.TARGET) {
        blamed(exchange, target);
        news.failed(target, exchange.id, failed.reason(), failed.silent(), nanoClock.getAsLong());
        if (!failed.silent() && !failed.stalled() && !failed.reason().startsWith(BUSY)) {
          watch.misbehaved(target, failed.reason());
        }
      }
    }
  }

  /** The target is to blame for a failed attempt: counted where the dispatcher counts it too. */
  void blamed(Exchange exchange, Target target) {
    metrics.attemptFailed(exchange.model, target.name());
  }

  /** A stream failed after its first byte. */
  void cut(Exchange exchange, String reason) {
    Target target = exchange.target;
    if (target != null) {
      blamed(exchange, target);
      news.failed(target, exchange.id, reason + ", in mid-stream", true, nanoClock.getAsLong());
      if (reason.startsWith(SENT)) {
        watch.misbehaved(target, reason);
      }
    }
  }

  /** A whole answer was not in the promised form. */
  void misplaced(Target target, String reason) {
    watch.misbehaved(target, reason);
  }

  /** The request has ended, however it did. */
  void finished(Exchange exchange) {
    if (exchange.outcome.equals("ok")) {
      learn(exchange);
    }
    metrics.finished(exchange);
    Target target = exchange.target;
    journal.usage(
        new Usage(
            clock.instant(),
            exchange.id,
            exchange.key,
            exchange.model,
            target == null ? "" : target.name(),
            exchange.path(),
            exchange.streamed,
            exchange.status,
            exchange.outcome,
            exchange.attempts,
            exchange.promptTokens(),
            exchange.completionTokens(),
            exchange.queueNanos / 1000,
            exchange.firstByteNanos == 0
                ? -1
                : (exchange.firstByteNanos - exchange.arrivedNanos) / 1000,
            (exchange.endedNanos - exchange.arrivedNanos) / 1000));
  }

  private void learn(Exchange exchange) {
    Target target = exchange.target;
    if (target == null) {
      return;
    }
    served.accept(target);
    if (exchange.answers > 1) {
      // Their times lie behind one another, perhaps on several targets.
      return;
    }
    EngineTimings timings = exchange.timings;
    long firstToken = exchange.streamed ? exchange.firstByteNanos - exchange.sentNanos : -1;
    long decode =
        exchange.streamed
            ? exchange.endedNanos - exchange.firstByteNanos
            : exchange.endedNanos - exchange.sentNanos;
    if (timings != null && timings.predictedMillis() > 0) {
      firstToken = (long) (timings.promptMillis() * 1e6);
      decode = (long) (timings.predictedMillis() * 1e6);
    }
    watch.answered(
        target,
        exchange.promptTokens(),
        exchange.completionTokens(),
        exchange.streamed || timings != null ? decode : -1,
        exchange.concurrency);
    speeds.learn(
        target,
        exchange.computedPromptTokens(),
        firstToken,
        exchange.completionTokens(),
        decode,
        exchange.concurrency,
        exchange.endedNanos);
  }
}
