package dev.flotilla.hub.proof;

import dev.flotilla.hub.fleet.ProofCandidate;
import dev.flotilla.hub.proof.ProvingGround.Stand;
import dev.flotilla.shape.dialect.Promise;
import dev.flotilla.wire.connection.DeadlineExceeded;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * One proof from its first question to its verdict: shape, sanity, speed, each where the one before
 * was passed.
 */
public final class ProofRun {
  private static final int BRIEF_CHARS = 160;

  /** A node's word on its memory is so old at most; a level takes longer. */
  private final ToLongFunction<String> freeMemory;

  private final ProvingGround ground;
  private final ShapeCheck shapes;
  private final ProofArchive archive;
  private final ProofLimits limits;
  private final InstantSource clock;
  private final LongSupplier nanoClock;

  /** How a proof ended. */
  sealed interface Outcome {
    /**
     * There is a verdict.
     *
     * @param evidence what it answered, for the model's reference
     * @param slow whether it is only too slow
     */
    record Judged(ProofRecord proof, Optional<Evidence> evidence, boolean slow)
        implements Outcome {}

    /** The launch is not waited for any more. */
    record Over() implements Outcome {}
  }

  /** The launch ended while it was proved. */
  private static final class LaunchOver extends Exception {
    private static final long serialVersionUID = 1;
  }

  /**
   * @param freeMemory bytes free on a node, 0 where unknown
   */
  public ProofRun(
      ProvingGround ground,
      ShapeCheck shapes,
      ProofArchive archive,
      ToLongFunction<String> freeMemory,
      ProofLimits limits,
      InstantSource clock,
      LongSupplier nanoClock) {
    this.ground = ground;
    this.shapes = shapes;
    this.archive = archive;
    this.freeMemory = freeMemory;
    this.limits = limits;
    this.clock = clock;
    this.nanoClock = nanoClock;
  }

  Instant now() {
    return clock.instant();
  }

  /**
   * Proves a launch.
   *
   * @param quick whether a short check of its speed is enough for now
   * @param floor tokens a second that its model promises, 0 for none
   * @param goesOn is told each step; false where the launch is over
   */
  Outcome prove(
      ProofCandidate candidate,
      boolean quick,
      double floor,
      SpeedRun.Size size,
      Predicate<String> goesOn)
      throws InterruptedException {
    Going going = new Going(candidate, goesOn);
    try (Stand stand = ground.enter(candidate.target())) {
      if (candidate.slow()) {
        // While it is too slow nothing else has to be asked, and its machine is left in peace.
        going.says("speed", "proof: whether it is fast enough by now");
        Curve now = speed(stand, true, floor, size);
        if (!now.keeps(floor) && !going.measured(now, floor, size)) {
          return going.refused(true);
        }
      }
      ShapeCheck.Asked asked = shape(candidate, stand, going);
      if (going.fellShort()) {
        return going.refused(
            going.amiss().stream().allMatch(each -> asked.cameLate(each.probe()))
                && crawls(stand, floor, size, going));
      }
      going.says("sanity", "proof 2 of 3: whether its answers are its model's");
      Evidence evidence;
      try {
        evidence = ask(candidate, stand);
      } catch (IOException e) {
        going.failed(e);
        return going.refused(
            e.getCause() instanceof DeadlineExceeded && crawls(stand, floor, size, going));
      }
      Optional<Evidence> reference =
          candidate.asReference() ? Optional.empty() : archive.reference(candidate.model());
      going.findings.addAll(Sanity.judge(evidence, reference));
      if (going.fellShort()) {
        return going.refused(false);
      }
      if (candidate.spec().embeddings()) {
        shapes.serves(asked);
        return going.passed(null, true, reference.isEmpty(), evidence);
      }
      going.says("speed", "proof 3 of 3: its speed");
      Curve curve = speed(stand, quick, floor, size);
      boolean held = going.measured(curve, floor, size);
      if (!held) {
        return going.refused(true);
      }
      shapes.serves(asked);
      return going.passed(curve, !quick, reference.isEmpty(), evidence);
    } catch (IOException e) {
      going.failed(e);
      return going.refused(false);
    } catch (SpeedRun.Disturbed e) {
      throw new IllegalStateException("a worker that nobody else asks was disturbed", e);
    } catch (LaunchOver e) {
      return new Outcome.Over();
    }
  }

  /** What a proof that took too long comes to. */
  Outcome tooLong(ProofCandidate candidate, Duration limit) {
    Going going = new Going(candidate, _ -> true);
    going.findings.add(
        new Finding(
            "proof",
            "the whole proof",
            "%d s at most".formatted(limit.toSeconds()),
            "longer",
            false));
    return going.refused(false);
  }

  private ShapeCheck.Asked shape(ProofCandidate candidate, Stand stand, Going going)
      throws LaunchOver {
    String words = "proof 1 of 3: the form of its answers";
    going.says(ShapeCheck.STAGE, words);
    Promise promise = new Promise(candidate.spec().reasoning(), candidate.spec().tools());
    BooleanSupplier goesOn = () -> going.goesOn.test(words);
    ShapeCheck.Asked asked = shapes.ask(stand, promise, goesOn);
    going.says(ShapeCheck.STAGE, words);
    going.findings.addAll(ShapeCheck.judge(asked, shapes.beside(candidate, promise, goesOn)));
    return asked;
  }

  private Evidence ask(ProofCandidate candidate, Stand stand) throws IOException {
    SanityRun questions =
        new SanityRun(
            line(),
            stand.name(),
            candidate.target().engine(),
            new EngineTokens(candidate.target(), ground.deadlines(), limits.request()),
            limits.request());
    return candidate.spec().embeddings() ? questions.embed() : questions.ask();
  }

  /**
   * Whether one that did not answer in time answers, but too slowly. One that gives no text at all
   * is silent, not slow; and vectors have no speed that is promised.
   */
  private boolean crawls(Stand stand, double floor, SpeedRun.Size size, Going going)
      throws InterruptedException, SpeedRun.Disturbed, LaunchOver {
    if (going.candidate.spec().embeddings()) {
      return false;
    }
    going.says("speed", "proof: whether it is only slow");
    try {
      SpeedRun run = speedRun(stand, size, SpeedRun.Room.ALONE);
      if (!run.speaks()) {
        return false;
      }
      Curve curve = run.quick(limits.firstTokens());
      return !curve.keeps(floor) && !going.measured(curve, floor, size);
    } catch (IOException e) {
      return false; // What is amiss is said already.
    }
  }

  private Curve speed(Stand stand, boolean quick, double floor, SpeedRun.Size size)
      throws IOException, InterruptedException, SpeedRun.Disturbed {
    SpeedRun run = speedRun(stand, size, SpeedRun.Room.ALONE);
    Curve curve = quick ? run.quick(limits.firstTokens()) : run.whole();
    if (curve.keeps(floor)) {
      return curve;
    }
    // Once more: something may have come between.
    return quick ? run.quick(limits.firstTokens()) : run.whole();
  }

  /**
   * The whole curve of a worker that serves.
   *
   * @param room what is left of it by clients
   */
  Curve measure(ProofCandidate candidate, SpeedRun.Size size, SpeedRun.Room room)
      throws IOException, InterruptedException, SpeedRun.Disturbed {
    try (Stand stand = ground.enter(candidate.target())) {
      Curve curve = speedRun(stand, size, room).whole();
      if (!curve.keeps(0)) {
        throw new IOException("no text in %d s".formatted(size.level().toSeconds()));
      }
      return curve;
    }
  }

  private SpeedRun speedRun(Stand stand, SpeedRun.Size size, SpeedRun.Room room) {
    String node = stand.target().node();
    return new SpeedRun(
        line(),
        stand.name(),
        stand.target().engine(),
        room,
        () -> freeMemory.applyAsLong(node),
        size);
  }

  private Line line() {
    return new Line(ground.address(), ground.key(), ground.deadlines(), nanoClock);
  }

  /** What stands in a sentence; the evidence has all of it. */
  private static String brief(String words) {
    return words.length() <= BRIEF_CHARS ? words : words.substring(0, BRIEF_CHARS) + "…";
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }

  /** What is known of a proof so far. */
  private final class Going {
    private final ProofCandidate candidate;
    private final Predicate<String> goesOn;
    private final long begun = nanoClock.getAsLong();
    private final List<Finding> findings = new ArrayList<>();
    private Curve curve = new Curve(List.of(), List.of(), Curve.Memory.UNKNOWN);
    private String stage = "";
    private boolean promised;

    Going(ProofCandidate candidate, Predicate<String> goesOn) {
      this.candidate = candidate;
      this.goesOn = goesOn;
    }

    void says(String part, String what) throws LaunchOver {
      stage = part;
      if (!goesOn.test(what)) {
        throw new LaunchOver();
      }
    }

    /** Takes down that it did not answer. */
    void failed(IOException e) {
      findings.add(
          new Finding(stage, "an answer", "one in time", String.valueOf(e.getMessage()), false));
    }

    /** Takes the speed down; says whether it is enough. */
    boolean measured(Curve speed, double floor, SpeedRun.Size size) {
      curve = speed;
      promised = floor > 0;
      boolean held = speed.keeps(floor);
      String some = "some text in %d s".formatted(size.level().toSeconds());
      findings.add(
          new Finding(
              "speed",
              "an answer alone",
              promised ? "%s tok/s or more".formatted(number(floor)) : some,
              speed.level(1).map(level -> seen(level, size.level())).orElse("no answer"),
              held));
      return held;
    }

    private static String seen(Curve.Level level, Duration time) {
      String came =
          "%s in %d s"
              .formatted(
                  level.tokens() == 0
                      ? "no text"
                      : level.tokens() == 1 ? "1 token" : level.tokens() + " tokens",
                  time.toSeconds());
      String rate = number(level.perRequest()) + " tok/s";
      return level.tokens() == 0 ? came : level.byTime() ? rate + ", " + came : rate;
    }

    boolean fellShort() {
      return !amiss().isEmpty();
    }

    List<Finding> amiss() {
      return findings.stream().filter(each -> !each.held()).toList();
    }

    Outcome passed(
        @Nullable Curve measured, boolean finished, boolean becomesReference, Evidence evidence) {
      return new Outcome.Judged(
          record(true, "", finished, becomesReference, measured), Optional.of(evidence), false);
    }

    Outcome refused(boolean slow) {
      List<Finding> amiss = amiss();
      Finding first = slow ? amiss.getLast() : amiss.getFirst();
      String reason =
          "its %s is not its model's: %s: expected %s, seen %s"
              .formatted(
                  first.stage().equals("sanity") ? "answer" : first.stage(),
                  first.probe(),
                  brief(first.expected()),
                  brief(first.seen()));
      if (slow) {
        reason =
            "it is too slow: %s, %s %s"
                .formatted(
                    first.seen(), promised ? "its model promises" : "expected", first.expected());
      } else if (amiss.size() > 1) {
        reason += ", and %d more".formatted(amiss.size() - 1);
      }
      return new Outcome.Judged(
          record(false, reason, false, false, slow ? curve : null), Optional.empty(), slow);
    }

    private ProofRecord record(
        boolean passed,
        String reason,
        boolean finished,
        boolean reference,
        @Nullable Curve measured) {
      return new ProofRecord(
          now(),
          candidate.worker(),
          candidate.target().node(),
          candidate.model(),
          candidate.generation(),
          ProofKey.of(candidate),
          passed,
          reason,
          finished,
          reference,
          findings,
          measured,
          Duration.ofNanos(nanoClock.getAsLong() - begun));
    }
  }
}
