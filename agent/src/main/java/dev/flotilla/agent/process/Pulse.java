package dev.flotilla.agent.process;

import dev.flotilla.agent.engine.EngineAdapter.Readiness;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Asks one ready engine again and again whether it still answers, and kills it when it does not: a
 * process that is frozen exists, and whoever waits for its end waits for ever.
 *
 * <p>An answer of another launch, or on another socket than the one that was proved, is no miss:
 * the engine was replaced behind the agent's back. It is killed at once, and so is one which says
 * itself that it will never serve again.
 *
 * <p><b>Life.</b> Made when the engine is ready, closed when its process is to end or has ended.
 * The engine's life hears of the verdict as it hears of any other end, by the process being gone,
 * and then finds {@link #verdict} here.
 *
 * <p><b>Concurrency.</b> A thread for each engine, so that one which hangs delays nobody; each
 * question has a thread of its own, which is interrupted when its time is over. After {@link
 * #close} nothing is killed any more.
 */
final class Pulse implements AutoCloseable {
  private final ProcessHandle process;
  private final Callable<Readiness> question;
  private final SupervisorLimits limits;
  private final InstantSource clock;
  private final Misses misses;
  private final Thread thread;
  private volatile @Nullable Verdict verdict;

  private Pulse(
      String worker,
      ProcessHandle process,
      Callable<Readiness> question,
      SupervisorLimits limits,
      InstantSource clock) {
    this.process = process;
    this.question = question;
    this.limits = limits;
    this.clock = clock;
    this.misses = new Misses(limits);
    this.thread = Thread.ofVirtual().name("pulse-" + worker).unstarted(this::run);
  }

  static Pulse of(
      String worker,
      ProcessHandle process,
      Callable<Readiness> question,
      SupervisorLimits limits,
      InstantSource clock) {
    Pulse pulse = new Pulse(worker, process, question, limits, clock);
    pulse.thread.start();
    return pulse;
  }

  /**
   * Why the process was killed.
   *
   * @param kind of the event
   * @param reason a sentence
   * @param logTells whether its log says more
   */
  record Verdict(String kind, String reason, boolean logTells) {}

  /** Why the process was killed; empty where it was not. */
  Optional<Verdict> verdict() {
    return Optional.ofNullable(verdict);
  }

  private void run() {
    try {
      Instant seen = clock.instant();
      long seenNanos = System.nanoTime();
      long askedNanos = seenNanos;
      while (true) {
        TimeUnit.NANOSECONDS.sleep(askedNanos + limits.aliveEvery().toNanos() - System.nanoTime());
        askedNanos = System.nanoTime();
        Optional<String> amiss = Optional.empty();
        switch (ask()) {
          case Readiness.Ready _ -> {}
          case Readiness.NotYet notYet -> amiss = Optional.of(notYet.what());
          case Readiness.Wrong wrong -> amiss = Optional.of(wrong.why());
          case Readiness.Stranger stranger -> {
            giveUp(new Verdict("worker-replaced", replaced(stranger), false));
            return;
          }
          case Readiness.Broken broken -> {
            giveUp(new Verdict("worker-broken", broken.what() + " It was killed.", true));
            return;
          }
        }
        // A clock that stands still while the machine sleeps is not the only one that is looked at.
        Instant now = clock.instant();
        Duration byClock = Duration.between(seen, now);
        Duration byNanos = Duration.ofNanos(System.nanoTime() - seenNanos);
        seen = now;
        seenNanos = System.nanoTime();
        if (amiss.isEmpty()) {
          misses.answered();
        } else if (misses.missed(byClock.compareTo(byNanos) > 0 ? byClock : byNanos)) {
          giveUp(new Verdict("worker-unresponsive", unresponsive(amiss.get()), false));
          return;
        }
      }
    } catch (InterruptedException closed) {
      Thread.currentThread().interrupt();
    }
  }

  /** One question; an answer that does not come is none yet. */
  private Readiness ask() throws InterruptedException {
    FutureTask<Readiness> answer = new FutureTask<>(question);
    Thread asking = Thread.ofVirtual().name(thread.getName() + "-question").start(answer);
    try {
      return answer.get(limits.aliveWithin().toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException late) {
      return new Readiness.NotYet("no answer within " + WorkerLife.seconds(limits.aliveWithin()));
    } catch (ExecutionException failed) {
      return new Readiness.NotYet("the question failed: " + failed.getCause());
    } finally {
      asking.interrupt();
    }
  }

  private String replaced(Readiness.Stranger stranger) {
    return "%s What answers was restarted or replaced without the agent; process %d was killed, and the next launch is proved anew."
        .formatted(stranger.why(), process.pid());
  }

  private String unresponsive(String last) {
    return "Its process %d exists and did not answer %d times in a row, asked every %s with %s to answer (last: %s); it was killed."
        .formatted(
            process.pid(),
            misses.inARow(),
            WorkerLife.seconds(limits.aliveEvery()),
            WorkerLife.seconds(limits.aliveWithin()),
            last.endsWith(".") ? last.substring(0, last.length() - 1) : last);
  }

  private void giveUp(Verdict why) {
    verdict = why;
    ProcessEnd.kill(process);
  }

  /** Ends the questions; what is being killed is killed before this returns. */
  @Override
  public void close() {
    thread.interrupt();
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
