package dev.flotilla.hub.proof;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.hub.fleet.ProofCandidate;
import dev.flotilla.hub.gateway.SocketDialer;
import dev.flotilla.hub.routing.StaticFleet;
import dev.flotilla.hub.routing.Target;
import dev.flotilla.hub.store.Store;
import dev.flotilla.hub.store.StoreLimits;
import dev.flotilla.shape.dialect.Promise;
import dev.flotilla.testkit.scripted.Gate;
import dev.flotilla.testkit.scripted.PretendModel;
import dev.flotilla.wire.fleet.WorkerSpec;
import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;
import java.net.URI;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One proof of one worker, whose engine changes while it is asked. */
final class ProofRunTest {
  private static final int CONTEXT = 4096;
  private static final SpeedRun.Size SIZE =
      new SpeedRun.Size(16, Duration.ofSeconds(1), CONTEXT, 1);
  private static final double FLOOR = 20;

  /** More than any fake gives: it is slow on every machine. */
  private static final double UNREACHED_FLOOR = 1_000_000;

  @TempDir Path home;

  private final StaticFleet fleet = new StaticFleet();
  private final PretendModel engine = PretendModel.named("m", CONTEXT);
  private final List<AutoCloseable> opened = new ArrayList<>();
  private Target target;

  @BeforeEach
  void aWorker() {
    SocketDialer dialer =
        new SocketDialer(
            URI.create(engine.engine().url()),
            Optional.empty(),
            SocketDialer.Limits.DEFAULTS,
            System::nanoTime);
    opened.add(engine);
    opened.add(dialer);
    target =
        new Target(
            "box/m-1",
            Target.Kind.WORKER,
            "m",
            "m",
            "llama-server",
            "box",
            1,
            CONTEXT,
            1,
            1,
            true,
            Target.Capability.TEXT,
            new Promise(Reasoning.REASONING_CONTENT, true),
            null,
            dialer.hostHeader(),
            "",
            dialer);
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : opened.reversed()) {
      each.close();
    }
  }

  /**
   * Proves the worker, which nobody thought to be slow.
   *
   * @param step is told each step before it is made
   */
  private ProofRun.Outcome.Judged proved(ProofLimits limits, double floor, Consumer<String> step)
      throws Exception {
    return proved(limits, floor, false, step);
  }

  private ProofRun.Outcome.Judged proved(
      ProofLimits limits, double floor, boolean slow, Consumer<String> step) throws Exception {
    try (Store store = Store.open(home, StoreLimits.DEFAULT, InstantSource.system());
        ProvingGround ground = ProvingGround.open(fleet, new SecureRandom())) {
      ProofRun run =
          new ProofRun(
              ground,
              new ShapeCheck(ground, fleet, _ -> Optional.empty(), limits, System::nanoTime),
              ProofArchive.open(store.proofs(), InstantSource.system(), limits.reuse()),
              _ -> 0,
              limits,
              InstantSource.system(),
              System::nanoTime);
      return (ProofRun.Outcome.Judged)
          run.prove(
              candidate(slow),
              true,
              floor,
              SIZE,
              words -> {
                step.accept(words);
                return true;
              });
    }
  }

  private ProofCandidate candidate(boolean slow) {
    WorkerSpec spec =
        new WorkerSpec(
            target.name(),
            "m",
            "llama-server",
            "/models/m.gguf",
            CONTEXT,
            1,
            Reasoning.REASONING_CONTENT,
            true,
            false,
            Map.of());
    return new ProofCandidate(target, spec, "", "", Optional.empty(), false, false, slow);
  }

  /** Makes the engine so from a step on whose words begin so. */
  private static Consumer<String> from(String step, Runnable change) {
    return words -> {
      if (words.startsWith(step)) {
        change.run();
      }
    };
  }

  private static List<Finding> speed(ProofRun.Outcome.Judged judged) {
    return judged.proof().findings().stream()
        .filter(finding -> finding.stage().equals("speed"))
        .toList();
  }

  @Test
  void oneThatGivesNoTextWithinALevelIsTooSlow() throws Exception {
    ProofRun.Outcome.Judged judged =
        proved(
            ProofLimits.DEFAULTS,
            FLOOR,
            from("proof 3 of 3", () -> engine.takes(Duration.ofMinutes(1))));

    assertThat(judged.slow()).isTrue();
    assertThat(judged.proof().reason())
        .isEqualTo("it is too slow: no text in 1 s, its model promises 20.0 tok/s or more");
    assertThat(speed(judged))
        .containsExactly(
            new Finding("speed", "an answer alone", "20.0 tok/s or more", "no text in 1 s", false));
    assertThat(judged.proof().curve()).isNotNull();
  }

  @Test
  void soItIsWhereItsModelPromisesNoSpeed() throws Exception {
    ProofRun.Outcome.Judged judged =
        proved(
            ProofLimits.DEFAULTS,
            0,
            from("proof 3 of 3", () -> engine.takes(Duration.ofMinutes(1))));

    assertThat(judged.slow()).isTrue();
    assertThat(judged.proof().passed()).isFalse();
    assertThat(judged.proof().reason())
        .isEqualTo("it is too slow: no text in 1 s, expected some text in 1 s");
  }

  @Test
  void oneThatWasTooSlowAndGivesNoTextNowIsAskedForNothingElse() throws Exception {
    engine.takes(Duration.ofMinutes(1));

    ProofRun.Outcome.Judged judged = proved(ProofLimits.DEFAULTS, FLOOR, true, _ -> {});

    assertThat(judged.slow()).isTrue();
    assertThat(judged.proof().findings()).isEqualTo(speed(judged)).hasSize(1);
  }

  @Test
  void whatCameOfASlowAnswerIsSaidInTokensAndSeconds() throws Exception {
    ProofRun.Outcome.Judged judged =
        proved(
            ProofLimits.DEFAULTS,
            UNREACHED_FLOOR,
            from("proof 3 of 3", () -> engine.takes(Duration.ofMillis(70))));

    assertThat(judged.slow()).isTrue();
    assertThat(speed(judged).getLast().seen()).matches("[\\d.]+ tok/s, \\d+ tokens? in 1 s");
  }

  @Test
  void oneThatIsTooSlowForTheProbesIsToldFromOneThatIsSilent() throws Exception {
    engine.takes(Duration.ofMillis(50));
    ProofLimits hasty = QuickProofs.within(Duration.ofMillis(300), Duration.ofMinutes(1));

    ProofRun.Outcome.Judged crawls = proved(hasty, UNREACHED_FLOOR, _ -> {});

    assertThat(crawls.slow()).isTrue();
    assertThat(crawls.proof().reason()).startsWith("it is too slow: ");
    assertThat(crawls.proof().findings())
        .anyMatch(finding -> finding.stage().equals("shape") && !finding.held());
  }

  @Test
  void oneThatAnswersNoQuestionInTimeMayBeOnlySlow() throws Exception {
    Gate gate = Gate.closed();
    ProofLimits limits = QuickProofs.within(Duration.ofSeconds(4), Duration.ofMinutes(1));

    ProofRun.Outcome.Judged judged =
        proved(
            limits,
            UNREACHED_FLOOR,
            step -> {
              if (step.startsWith("proof 2 of 3")) {
                engine.waitsFor(gate);
              } else if (step.equals("proof: whether it is only slow")) {
                gate.open();
                engine.takes(Duration.ofMillis(20));
              }
            });

    assertThat(judged.slow()).isTrue();
    assertThat(judged.proof().reason()).startsWith("it is too slow: ");
  }

  @Test
  void oneThatIsSilentIsSilentAndNotSlow() throws Exception {
    engine.waitsFor(Gate.closed());
    ProofLimits hasty = QuickProofs.within(Duration.ofMillis(300), Duration.ofMinutes(1));

    ProofRun.Outcome.Judged judged = proved(hasty, FLOOR, _ -> {});

    assertThat(judged.slow()).isFalse();
    assertThat(judged.proof().reason())
        .startsWith("its shape is not its model's: plain: expected an answer, seen ");
  }
}
