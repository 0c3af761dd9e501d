package dev.flotilla.hub.proof;

import dev.flotilla.hub.fleet.ProofCandidate;
import dev.flotilla.hub.proof.ProvingGround.Stand;
import dev.flotilla.hub.routing.FleetSource;
import dev.flotilla.hub.routing.Reservation;
import dev.flotilla.hub.routing.Target;
import dev.flotilla.shape.dialect.Promise;
import dev.flotilla.shape.probe.Comparison;
import dev.flotilla.shape.probe.Difference;
import dev.flotilla.shape.probe.Probe;
import dev.flotilla.shape.probe.ProbeLimits;
import dev.flotilla.shape.probe.ProbeResult;
import dev.flotilla.shape.probe.ProbeResult.LeftOut;
import dev.flotilla.shape.probe.ProbeResult.Replied;
import dev.flotilla.shape.probe.ProbeResult.Silent;
import dev.flotilla.shape.probe.ProbeRun;
import dev.flotilla.shape.probe.ProbeTarget;
import dev.flotilla.shape.probe.Probes;
import dev.flotilla.shape.probe.Shape;
import dev.flotilla.shape.probe.UrlCaller;
import dev.flotilla.shape.probe.Verdict;
import dev.flotilla.shape.probe.Verdict.Broken;
import dev.flotilla.shape.probe.Verdict.Kept;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

/**
 * Whether a worker's replies have the form that its model's name promises: every probe of the
 * {@code shape} module for what it answers, chats or embeddings, asked as a client asks it, held to
 * the promise and, where another worker serves the model, laid beside what that one showed.
 *
 * <p><b>Beside a serving worker.</b> What a worker showed in its own proof is kept for the life of
 * its launch. One that serves by an earlier proof, before this hub was started, is asked once, on a
 * place that no client wants; where it has none, or does not answer to the end, the promise alone
 * is what counts. Only what keeps the promise there is compared with: a serving worker that has
 * turned bad refuses nobody.
 *
 * <p><b>What is left out.</b> A probe of something that the engine lacks ({@link Verdict#leftOut})
 * is not asked, as no client's request for it comes to this worker.
 *
 * <p>Bound: the shapes of {@value #KEPT} launches, each within {@link ProbeLimits#factsMax()}.
 * Concurrency: any thread; one short lock on what is kept.
 */
public final class ShapeCheck {
  static final String STAGE = "shape";
  private static final String AS_PROMISED = "as promised";
  private static final int KEPT = 64;

  /** Of the places in which one reply differs. */
  private static final int PLACES_SHOWN = 5;

  private final ProvingGround ground;
  private final FleetSource fleet;
  private final Function<Target, Optional<Reservation>> spare;
  private final ProofLimits limits;
  private final LongSupplier nanoClock;

  /** By launch and promise, the eldest first. */
  private final LinkedHashMap<String, Shown> kept = new LinkedHashMap<>();

  /**
   * What a worker showed.
   *
   * @param shapes by the probe's name: those that keep the promise
   */
  record Shown(String worker, Map<String, Shape> shapes) {}

  /** What one worker was asked, and what became of it. */
  record Asked(Target target, Promise promise, List<ProbeResult> results) {
    private Shown shown() {
      Map<String, Shape> shapes = new LinkedHashMap<>();
      for (ProbeResult result : results) {
        if (result.outcome() instanceof Replied replied
            && Verdict.of(promise, result) instanceof Kept) {
          shapes.put(result.probe().name(), replied.shape());
        }
      }
      return new Shown(target.name(), shapes);
    }

    private boolean toTheEnd() {
      return results.stream()
          .noneMatch(result -> result.outcome() instanceof Silent || brokenOff(result));
    }

    /** Whether the reply to a probe did not come, or not to its end. */
    boolean cameLate(String probe) {
      return results.stream()
          .filter(each -> each.probe().name().equals(probe))
          .anyMatch(each ->
              each.outcome() instanceof Silent
                  || brokenOff(each)
                  || (each.outcome() instanceof Replied replied
                      && replied.reply().cut().isPresent()));
    }

    /** Not asked, though the engine has what it asks for. */
    private boolean brokenOff(ProbeResult result) {
      return result.outcome() instanceof LeftOut
          && Verdict.leftOut(result.probe(), promise, target.dialect()).isEmpty()
          && !(result.probe().needsContext() && target.contextTokens() == 0);
    }
  }

  /**
   * @param fleet where the serving workers are known
   * @param spare a place on a serving worker that no client wants
   */
  public ShapeCheck(
      ProvingGround ground,
      FleetSource fleet,
      Function<Target, Optional<Reservation>> spare,
      ProofLimits limits,
      LongSupplier nanoClock) {
    this.ground = ground;
    this.fleet = fleet;
    this.spare = spare;
    this.limits = limits;
    this.nanoClock = nanoClock;
  }

  /**
   * Asks a worker everything.
   *
   * @param goesOn whether its answers are still waited for
   */
  Asked ask(Stand stand, Promise promise, BooleanSupplier goesOn) {
    Target target = stand.target();
    ProbeLimits bounds = ProbeLimits.DEFAULTS.withCall(limits.request()).withRun(limits.shapes());
    int[] broken = {0};
    try (UrlCaller caller =
        new UrlCaller(ground.address(), Optional.of(ground.key()), Optional.empty())) {
      List<ProbeResult> results =
          new ProbeRun(bounds, nanoClock)
              .run(
                  caller,
                  new ProbeTarget(stand.name(), target.contextTokens()),
                  target.capability() == Target.Capability.EMBEDDINGS
                      ? Probes.embeddings()
                      : Probes.all(),
                  probe -> leftOut(probe, promise, target, broken[0], goesOn),
                  result -> {
                    if (Verdict.of(promise, result) instanceof Broken) {
                      broken[0]++;
                    }
                  });
      return new Asked(target, promise, results);
    }
  }

  private Optional<String> leftOut(
      Probe probe, Promise promise, Target target, int broken, BooleanSupplier goesOn) {
    if (broken >= limits.brokenMax()) {
      return Optional.of(broken + " probes had shown enough");
    }
    return goesOn.getAsBoolean()
        ? Verdict.leftOut(probe, promise, target.dialect())
        : Optional.of("its launch was over");
  }

  /**
   * What is to be said of it: for each probe that was asked or is nothing for this engine, whether
   * it is as it should be.
   *
   * @param beside what a serving worker showed
   */
  static List<Finding> judge(Asked asked, Optional<Shown> beside) {
    List<Finding> findings = new ArrayList<>();
    boolean amiss = false;
    for (ProbeResult result : asked.results()) {
      if (asked.brokenOff(result) && amiss) {
        continue; // Why it ended is said already.
      }
      Finding finding = judge(asked, result, beside);
      amiss |= !finding.held();
      findings.add(finding);
    }
    return findings;
  }

  private static Finding judge(Asked asked, ProbeResult result, Optional<Shown> beside) {
    String name = result.probe().name();
    return switch (result.outcome()) {
      case LeftOut left ->
          new Finding(
              STAGE,
              name,
              asked.brokenOff(result) ? "an answer" : "not asked",
              left.why(),
              !asked.brokenOff(result));
      case Silent silent -> new Finding(STAGE, name, "an answer", silent.why(), false);
      case Replied replied -> {
        List<Difference> differences =
            beside
                .map(shown -> shown.shapes().get(name))
                .map(other -> Comparison.differences(result.probe(), other, replied.shape()))
                .orElse(List.of());
        if (!differences.isEmpty()) {
          yield amiss(
              name, "as " + beside.get().worker() + " answers: ", differences, error(replied));
        }
        yield Verdict.of(asked.promise(), result) instanceof Broken broken
            ? amiss(name, "", broken.differences(), error(replied))
            : new Finding(STAGE, name, AS_PROMISED, AS_PROMISED, true);
      }
    };
  }

  private static Finding amiss(
      String probe, String as, List<Difference> differences, String error) {
    int more = differences.size() - PLACES_SHOWN;
    String rest = more > 0 ? ", and " + more + " more" : "";
    return new Finding(
        STAGE,
        probe,
        as + side(differences, Difference::expected) + rest,
        side(differences, Difference::seen) + rest + error,
        false);
  }

  private static String side(List<Difference> differences, Function<Difference, String> side) {
    return differences.stream()
        .limit(PLACES_SHOWN)
        .map(each -> each.place() + " " + side.apply(each))
        .collect(Collectors.joining(", "));
  }

  /** What the reply says for itself where it is an error. */
  private static String error(Replied replied) {
    try {
      String message =
          Line.MAPPER.readTree(replied.reply().body()).at("/error/message").asString("");
      // People know the worker by its own name, not by that of its stand.
      return message.isEmpty() ? "" : " (" + message.replaceAll("@\\d+'", "'") + ")";
    } catch (JacksonException _) {
      return "";
    }
  }

  /**
   * What a worker that serves the candidate's model under the same promise shows; empty where none
   * serves, or can be asked now.
   */
  Optional<Shown> beside(ProofCandidate candidate, Promise promise, BooleanSupplier goesOn) {
    var name = fleet.current().names().get(candidate.model());
    List<Target> serving =
        name == null
            ? List.of()
            : name.targets().stream()
                .filter(each ->
                    each.kind() == Target.Kind.WORKER
                        && each.admitting()
                        && !each.name().equals(candidate.worker())
                        && promise.equals(each.promise()))
                .toList();
    for (Target each : serving) {
      Shown shown = kept(key(each, promise));
      if (shown != null) {
        return Optional.of(shown);
      }
    }
    return serving.isEmpty() ? Optional.empty() : askServing(serving.getFirst(), promise, goesOn);
  }

  private Optional<Shown> askServing(Target target, Promise promise, BooleanSupplier goesOn) {
    Optional<Reservation> place = spare.apply(target);
    if (place.isEmpty()) {
      return Optional.empty();
    }
    try (Reservation _ = place.get();
        Stand stand = ground.enter(target)) {
      Asked asked = ask(stand, promise, goesOn);
      if (!asked.toTheEnd()) {
        return Optional.empty();
      }
      serves(asked);
      return Optional.of(asked.shown());
    }
  }

  /** The worker has passed: others are laid beside it from now on. */
  void serves(Asked asked) {
    synchronized (kept) {
      kept.putLast(key(asked.target(), asked.promise()), asked.shown());
      while (kept.size() > KEPT) {
        kept.remove(kept.keySet().iterator().next());
      }
    }
  }

  private @Nullable Shown kept(String key) {
    synchronized (kept) {
      return kept.get(key);
    }
  }

  private static String key(Target target, Promise promise) {
    return target.ledgerKey() + ' ' + promise;
  }
}
