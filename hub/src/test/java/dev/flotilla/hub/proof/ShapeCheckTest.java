package dev.flotilla.hub.proof;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.hub.fleet.ProofCandidate;
import dev.flotilla.hub.gateway.SocketDialer;
import dev.flotilla.hub.proof.ProvingGround.Stand;
import dev.flotilla.hub.routing.Dispatcher;
import dev.flotilla.hub.routing.Ledger;
import dev.flotilla.hub.routing.QueueLimits;
import dev.flotilla.hub.routing.Reservation;
import dev.flotilla.hub.routing.Speeds;
import dev.flotilla.hub.routing.StaticFleet;
import dev.flotilla.hub.routing.Target;
import dev.flotilla.hub.spec.FleetSpec;
import dev.flotilla.shape.dialect.Promise;
import dev.flotilla.testkit.scripted.Lie;
import dev.flotilla.testkit.scripted.LyingEngine;
import dev.flotilla.testkit.scripted.ScriptedEngine;
import dev.flotilla.wire.fleet.WorkerSpec;
import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a proof says of the shape of workers that are honest, lie, hang or lack something. */
final class ShapeCheckTest {
  private static final int CONTEXT = 512;
  private static final Promise PROMISE = new Promise(Reasoning.REASONING_CONTENT, true);

  private final StaticFleet fleet = new StaticFleet();
  private final Dispatcher dispatcher =
      new Dispatcher(
          fleet,
          new Ledger(),
          new Speeds(),
          () -> QueueLimits.of(FleetSpec.Limits.DEFAULT),
          System::nanoTime);
  private final ProvingGround ground;
  private final List<SocketDialer> dialers = new ArrayList<>();

  ShapeCheckTest() throws IOException {
    ground = ProvingGround.open(fleet, new SecureRandom());
  }

  @AfterEach
  void close() {
    ground.close();
    dialers.forEach(SocketDialer::close);
  }

  private ShapeCheck check(ProofLimits limits) {
    return new ShapeCheck(ground, fleet, dispatcher::spare, limits, System::nanoTime);
  }

  private Target worker(String name, String kind, ScriptedEngine engine) {
    SocketDialer dialer =
        new SocketDialer(
            URI.create(engine.url()),
            Optional.empty(),
            SocketDialer.Limits.DEFAULTS,
            System::nanoTime);
    dialers.add(dialer);
    return new Target(
        name,
        Target.Kind.WORKER,
        "m",
        LyingEngine.MODEL,
        kind,
        "node",
        1,
        CONTEXT,
        16,
        1,
        true,
        Target.Capability.TEXT,
        PROMISE,
        null,
        dialer.hostHeader(),
        "",
        dialer);
  }

  private List<Finding> proved(ProofLimits limits, Target target) {
    ShapeCheck check = check(limits);
    try (Stand stand = ground.enter(target)) {
      ShapeCheck.Asked asked = check.ask(stand, PROMISE, () -> true);
      return ShapeCheck.judge(asked, check.beside(candidate(target), PROMISE, () -> true));
    }
  }

  private static ProofCandidate candidate(Target target) {
    WorkerSpec spec =
        new WorkerSpec(
            target.name(),
            "m",
            "llama-server",
            "/models/m.gguf",
            CONTEXT,
            1,
            PROMISE.reasoning(),
            PROMISE.tools(),
            false,
            Map.of());
    return new ProofCandidate(target, spec, "", "", Optional.empty(), false, false, false);
  }

  private static List<Finding> amiss(List<Finding> findings) {
    return findings.stream().filter(finding -> !finding.held()).toList();
  }

  @Test
  void anHonestWorkerIsAsPromisedInEveryProbe() {
    try (ScriptedEngine honest = LyingEngine.honest(CONTEXT)) {
      List<Finding> findings = proved(ProofLimits.DEFAULTS, worker("a", "llama-server", honest));

      assertThat(amiss(findings)).isEmpty();
      assertThat(findings).extracting(Finding::seen).containsOnly("as promised");
    }
  }

  @Test
  void theEngineThatStandsInForLlamaServerElsewhereIsAsPromised() {
    try (ScriptedEngine engine = ScriptedEngine.start().contextTokens(CONTEXT)) {
      assertThat(amiss(proved(ProofLimits.DEFAULTS, worker("a", "llama-server", engine))))
          .isEmpty();
    }
  }

  @Test
  void aLieIsRepairedForClientsOrNamed() throws IOException {
    StringBuilder named = new StringBuilder();
    for (Lie lie : Lie.all()) {
      try (ScriptedEngine engine = LyingEngine.telling(lie, CONTEXT)) {
        Target target = worker(lie.name(), "llama-server", engine);
        List<Finding> amiss = amiss(proved(QuickProofs.LIMITS, target));
        named.append("%s (%s)%n  ".formatted(lie, lie.words()));
        named.append(amiss.isEmpty() ? "repaired\n" : said(amiss.getFirst()));
      }
    }

    assertThat(named.toString()).isEqualTo(expected());
  }

  /** Without the hub's own words about what failed, which hang on where a connection broke. */
  private static String said(Finding finding) {
    return "%s: expected %s, seen %s%n"
        .formatted(
            finding.probe(), finding.expected(), finding.seen().replaceAll(" \\([^()]*\\)$", ""));
  }

  private static String expected() throws IOException {
    try (InputStream in = ShapeCheckTest.class.getResourceAsStream("lies-in-a-proof.txt")) {
      return new String(Objects.requireNonNull(in).readAllBytes(), UTF_8);
    }
  }

  @Test
  void whatTheEngineLacksIsNotAsked() {
    try (ScriptedEngine honest = LyingEngine.honest(CONTEXT)) {
      List<Finding> findings = proved(ProofLimits.DEFAULTS, worker("a", "mlx-lm", honest));

      assertThat(findings)
          .filteredOn(finding -> finding.expected().equals("not asked"))
          .allMatch(Finding::held)
          .extracting(Finding::probe)
          .contains("json-schema", "tools-required", "logprobs-streamed")
          .doesNotContain("plain", "streamed", "tools-auto");
    }
  }

  @Test
  void whatKeepsThePromiseButDiffersFromAServingWorkerIsNamedWithBothShapes() {
    try (ScriptedEngine thinks = LyingEngine.honest(CONTEXT);
        ScriptedEngine doesNot = LyingEngine.thoughtless(CONTEXT)) {
      fleet.serve("m", worker("one/m-1", "llama-server", thinks));

      List<Finding> amiss =
          amiss(proved(ProofLimits.DEFAULTS, worker("two/m-1", "llama-server", doesNot)));

      assertThat(amiss)
          .extracting(Finding::probe)
          .containsExactly("reasoning-on", "reasoning-streamed");
      assertThat(amiss.getFirst().expected())
          .startsWith("as one/m-1 answers: ")
          .contains("reasoning reasoning_content");
      assertThat(amiss.getFirst().seen()).contains("reasoning none");
    }
  }

  @Test
  void aServingWorkerIsAskedOnceAndOnlyOnAPlaceThatNobodyWants() {
    try (ScriptedEngine serving = LyingEngine.honest(CONTEXT);
        ScriptedEngine engine = LyingEngine.honest(CONTEXT)) {
      Target one = worker("one/m-1", "llama-server", serving);
      fleet.serve("m", one);
      ShapeCheck check = check(ProofLimits.DEFAULTS);
      ProofCandidate second = candidate(worker("two/m-1", "llama-server", engine));

      try (Reservation _ = dispatcher.spare(one).orElseThrow()) {
        assertThat(check.beside(second, PROMISE, () -> true)).isEmpty();
        assertThat(serving.requests()).isEmpty();
      }

      assertThat(check.beside(second, PROMISE, () -> true)).isPresent();
      int asked = serving.requests().size();
      assertThat(check.beside(second, PROMISE, () -> true)).isPresent();
      assertThat(serving.requests()).hasSize(asked);
    }
  }

  @Test
  void aServingWorkerThatDiesMeanwhileLeavesThePromiseToCompareWith() {
    try (ScriptedEngine dying = LyingEngine.honest(CONTEXT);
        ScriptedEngine engine = LyingEngine.honest(CONTEXT)) {
      fleet.serve("m", worker("one/m-1", "llama-server", dying));
      dying.whenChat(_ -> dying.die());

      List<Finding> findings =
          proved(QuickProofs.LIMITS, worker("two/m-1", "llama-server", engine));

      assertThat(amiss(findings)).isEmpty();
      assertThat(dying.requests()).isNotEmpty();
    }
  }

  @Test
  void aServingWorkerThatHasTurnedBadRefusesNobody() {
    try (ScriptedEngine bad = LyingEngine.telling(Lie.CHOICE_IGNORED, CONTEXT);
        ScriptedEngine engine = LyingEngine.honest(CONTEXT)) {
      fleet.serve("m", worker("one/m-1", "llama-server", bad));

      assertThat(amiss(proved(ProofLimits.DEFAULTS, worker("two/m-1", "llama-server", engine))))
          .isEmpty();
    }
  }

  @Test
  void aLaunchThatIsOverIsAskedNoMore() {
    try (ScriptedEngine honest = LyingEngine.honest(CONTEXT);
        Stand stand = ground.enter(worker("a", "llama-server", honest))) {
      check(ProofLimits.DEFAULTS).ask(stand, PROMISE, () -> honest.requests().size() < 3);

      assertThat(honest.requests()).hasSize(3);
    }
  }
}
