package dev.flotilla.shape.probe;

import dev.flotilla.shape.probe.ProbeResult.LeftOut;
import dev.flotilla.shape.probe.ProbeResult.Outcome;
import dev.flotilla.shape.probe.ProbeResult.Replied;
import dev.flotilla.shape.probe.ProbeResult.Silent;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * Asks one server one probe after the other. It ends: each probe has its time, all together have
 * theirs, and a server that is silent some times in a row is not asked the rest.
 */
public final class ProbeRun {
  private final ProbeLimits limits;
  private final LongSupplier nanoClock;

  public ProbeRun(ProbeLimits limits, LongSupplier nanoClock) {
    this.limits = limits;
    this.nanoClock = nanoClock;
  }

  /** Asks all of them; see {@link #run(Caller, ProbeTarget, List, Function, Consumer)}. */
  public List<ProbeResult> run(Caller caller, ProbeTarget target, List<Probe> probes) {
    return run(caller, target, probes, _ -> Optional.empty(), _ -> {});
  }

  /**
   * Asks the probes in their order. An interrupt ends the run: what is left is left out.
   *
   * @param leftOut why a probe is not to be asked here, in words; empty where it is
   * @param each is told of each result when it is there
   * @return one result for each probe, in the same order
   */
  public List<ProbeResult> run(
      Caller caller,
      ProbeTarget target,
      List<Probe> probes,
      Function<Probe, Optional<String>> leftOut,
      Consumer<ProbeResult> each) {
    long begun = nanoClock.getAsLong();
    List<ProbeResult> results = new ArrayList<>();
    int silent = 0;
    for (Probe probe : probes) {
      Optional<String> why = leftOut.apply(probe).or(() -> withoutContext(probe, target));
      Duration spent = Duration.ofNanos(nanoClock.getAsLong() - begun);
      if (why.isEmpty() && silent == limits.silentMax()) {
        why = Optional.of("the server gave no reply " + silent + " times in a row");
      }
      if (why.isEmpty() && spent.compareTo(limits.run()) >= 0) {
        why = Optional.of("the time for all probes, " + limits.run().toSeconds() + " s, was up");
      }
      if (why.isEmpty() && Thread.currentThread().isInterrupted()) {
        why = Optional.of("the run was interrupted");
      }
      ProbeResult result =
          why.isPresent()
              ? new ProbeResult(probe, new LeftOut(why.get()), Duration.ZERO)
              : ask(caller, target, probe, limits.run().minus(spent));
      if (result.outcome() instanceof Silent) {
        silent++;
      } else if (result.outcome() instanceof Replied) {
        silent = 0;
      }
      results.add(result);
      each.accept(result);
    }
    return results;
  }

  private ProbeResult ask(Caller caller, ProbeTarget target, Probe probe, Duration left) {
    long begun = nanoClock.getAsLong();
    Outcome outcome;
    try {
      ProbeReply reply =
          caller.call(
              probe.call(target),
              left.compareTo(limits.call()) < 0 ? limits.withCall(left) : limits);
      outcome = new Replied(ShapeReader.read(reply, probe, target, limits), reply);
    } catch (IOException e) {
      outcome = new Silent(Forms.printable(String.valueOf(e.getMessage()), 200));
    }
    return new ProbeResult(
        probe, outcome, Duration.ofNanos(Math.max(0, nanoClock.getAsLong() - begun)));
  }

  private static Optional<String> withoutContext(Probe probe, ProbeTarget target) {
    return probe.needsContext() && target.contextTokens() == 0
        ? Optional.of("the length of the context is not known")
        : Optional.empty();
  }
}
