package dev.flotilla.hub.proof;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.hub.fleet.ProofCandidate;
import dev.flotilla.hub.gateway.BuiltinServer;
import dev.flotilla.hub.gateway.SocketDialer;
import dev.flotilla.hub.routing.Dispatcher;
import dev.flotilla.hub.routing.Ledger;
import dev.flotilla.hub.routing.QueueLimits;
import dev.flotilla.hub.routing.Speeds;
import dev.flotilla.hub.routing.StaticFleet;
import dev.flotilla.hub.routing.Target;
import dev.flotilla.hub.spec.FleetSpec;
import dev.flotilla.hub.store.Store;
import dev.flotilla.hub.store.StoreLimits;
import dev.flotilla.shape.dialect.Promise;
import dev.flotilla.testkit.model.AlteredModel;
import dev.flotilla.testkit.real.RealEngine;
import dev.flotilla.testkit.real.RealServer;
import dev.flotilla.testkit.real.SmallModel;
import dev.flotilla.testkit.scripted.EmbeddingLie;
import dev.flotilla.testkit.scripted.LyingEngine;
import dev.flotilla.testkit.scripted.ScriptedEngine;
import dev.flotilla.wire.fleet.WorkerSpec;
import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whole proofs of workers that make vectors: real ones of two engines, and some that lie. */
final class EmbeddingsProofTest {
  private static final int CONTEXT = 512;
  private static final Promise PROMISE = new Promise(Reasoning.REASONING_CONTENT, false);
  private static final SpeedRun.Size SIZE =
      new SpeedRun.Size(16, Duration.ofSeconds(1), CONTEXT, 1);

  @TempDir Path home;

  private final StaticFleet fleet = new StaticFleet();
  private final List<AutoCloseable> opened = new ArrayList<>();
  private ProofArchive archive;
  private ProofRun run;

  @BeforeEach
  void aHub() throws Exception {
    Store store = closing(Store.open(home, StoreLimits.DEFAULT, InstantSource.system()));
    ProvingGround ground = closing(ProvingGround.open(fleet, new SecureRandom()));
    Dispatcher dispatcher =
        new Dispatcher(
            fleet,
            new Ledger(),
            new Speeds(),
            () -> QueueLimits.of(FleetSpec.Limits.DEFAULT),
            System::nanoTime);
    archive = ProofArchive.open(store.proofs(), InstantSource.system(), Duration.ofHours(1));
    run =
        new ProofRun(
            ground,
            new ShapeCheck(ground, fleet, dispatcher::spare, QuickProofs.LIMITS, System::nanoTime),
            archive,
            _ -> 0,
            QuickProofs.LIMITS,
            InstantSource.system(),
            System::nanoTime);
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : opened.reversed()) {
      each.close();
    }
  }

  private <T extends AutoCloseable> T closing(T part) {
    opened.add(part);
    return part;
  }

  private Target worker(String name, String kind, int port) {
    SocketDialer dialer =
        closing(
            new SocketDialer(
                URI.create("http://127.0.0.1:" + port),
                Optional.empty(),
                SocketDialer.Limits.DEFAULTS,
                System::nanoTime));
    return new Target(
        name,
        Target.Kind.WORKER,
        "m",
        kind.equals("builtin") ? BuiltinServer.MODEL : LyingEngine.MODEL,
        kind,
        "node",
        1,
        CONTEXT,
        16,
        1,
        true,
        Target.Capability.EMBEDDINGS,
        PROMISE,
        null,
        dialer.hostHeader(),
        "",
        dialer);
  }

  private ProofRecord proved(Target target) throws InterruptedException {
    return judged(target).proof();
  }

  /** Proves it; it serves from then on, and is the model's reference. */
  private ProofRecord serves(Target target) throws InterruptedException {
    ProofRun.Outcome.Judged judged = judged(target);
    assertThat(judged.proof().reason()).isEmpty();
    assertThat(judged.proof().reference()).isTrue();
    archive.accept("m", judged.evidence().orElseThrow(), target.name());
    fleet.serve("m", target);
    return judged.proof();
  }

  private ProofRun.Outcome.Judged judged(Target target) throws InterruptedException {
    WorkerSpec spec =
        new WorkerSpec(
            target.name(),
            "m",
            target.engine(),
            "/models/m.gguf",
            CONTEXT,
            1,
            PROMISE.reasoning(),
            PROMISE.tools(),
            true,
            Map.of());
    return (ProofRun.Outcome.Judged)
        run.prove(
            new ProofCandidate(target, spec, "", "", Optional.empty(), false, false, false),
            false,
            0,
            SIZE,
            _ -> true);
  }

  private static RealServer llamaServer(Path model) {
    return RealServer.of(RealEngine.LLAMA_SERVER)
        .model(model)
        .name(LyingEngine.MODEL)
        .options("-t", "1", "--embeddings", "--pooling", "mean")
        .options("-np", "1", "-c", String.valueOf(CONTEXT), "-b", String.valueOf(CONTEXT))
        .options("-ub", String.valueOf(CONTEXT))
        .start();
  }

  private static List<Finding> of(ProofRecord proof, String stage) {
    return proof.findings().stream().filter(each -> each.stage().equals(stage)).toList();
  }

  @Test
  void twoEnginesMakeTheSameVectorsInTheSameShape() throws Exception {
    try (RealServer llama = llamaServer(SmallModel.gguf());
        BuiltinServer builtin = BuiltinServer.start()) {
      ProofRecord first = serves(worker("one/m-1", "llama-server", llama.port()));
      assertThat(of(first, "shape"))
          .filteredOn(each -> !each.seen().equals("as promised"))
          .extracting(Finding::probe)
          .containsExactly("embedding-dimensions");

      ProofRecord second = proved(worker("two/m-1", "builtin", builtin.engine().port()));
      assertThat(second.reason()).isEmpty();
      assertThat(of(second, "shape"))
          .filteredOn(each -> !each.seen().equals("as promised"))
          .isEmpty();
      assertThat(of(second, "sanity"))
          .extracting(Finding::expected)
          .contains("tokenizer and usage agree", "cosine with the reference's of 0.97 or more");
    }
  }

  @Test
  void otherWeightsAreToldByTheDirectionOfTheirVectors() throws Exception {
    Path spoilt = AlteredModel.wrongWeights(SmallModel.gguf(), home.resolve("spoilt"), 1);
    try (BuiltinServer right = BuiltinServer.start();
        RealServer wrong = llamaServer(spoilt)) {
      serves(worker("one/m-1", "builtin", right.engine().port()));

      ProofRecord refused = proved(worker("two/m-1", "llama-server", wrong.port()));

      assertThat(refused.reason())
          .startsWith("its answer is not its model's: embedding of ")
          .contains("expected cosine with the reference's");
    }
  }

  @Test
  void aLieIsRepairedForClientsOrNamed() throws Exception {
    StringBuilder named = new StringBuilder();
    for (EmbeddingLie lie : EmbeddingLie.values()) {
      try (ScriptedEngine engine = LyingEngine.embedding(lie, CONTEXT)) {
        ProofRecord proof = proved(worker(lie + "/m-1", "llama-server", engine.port()));
        named.append("%s (%s)%n  ".formatted(lie, lie.words()));
        named.append(proof.passed() ? "repaired, or not asked" : proof.reason()).append('\n');
      }
    }

    assertThat(named.toString()).isEqualTo(expected());
  }

  @Test
  void anotherLengthOfItsVectorsIsSeenBesideAServingWorker() throws Exception {
    try (ScriptedEngine one = LyingEngine.embedding(CONTEXT);
        ScriptedEngine cut = LyingEngine.embedding(EmbeddingLie.HALF_AS_LONG, CONTEXT)) {
      serves(worker("one/m-1", "llama-server", one.port()));

      assertThat(proved(worker("two/m-1", "llama-server", cut.port())).reason())
          .startsWith(
              "its shape is not its model's: embedding: expected as one/m-1 answers: "
                  + "vectors 48 numbers each, seen vectors 24 numbers each");
    }
  }

  private static String expected() throws IOException {
    try (InputStream in =
        EmbeddingsProofTest.class.getResourceAsStream("embedding-lies-in-a-proof.txt")) {
      return new String(Objects.requireNonNull(in).readAllBytes(), UTF_8);
    }
  }
}
