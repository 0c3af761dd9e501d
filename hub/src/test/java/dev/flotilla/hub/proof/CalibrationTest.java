package dev.flotilla.hub.proof;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.testkit.real.RealEngine;
import dev.flotilla.testkit.real.RealServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Workers that are right are not refused: proofs of three engines in many settings, each judged by
 * itself and beside each other one as its reference. It writes the table of docs/proof.md to {@code
 * target/calibration.md}, anew after each proof: what is known stands there, whatever the next
 * engine does. It takes half an hour and more, so it runs on demand: {@code mvn test -Pcalibration
 * -pl hub -am -Dflotilla.proofs=100}, or of twenty proofs without the number.
 */
@Tag("calibration")
final class CalibrationTest {
  private static final int PROOFS = Integer.getInteger("flotilla.proofs", 20);

  /**
   * A server, started so.
   *
   * @param clients who ask it for other things meanwhile
   * @param share of all proofs, in tenths
   */
  private record Setting(String name, RealServer.Order order, int clients, int share) {}

  /** One proof's evidence. */
  private record Proof(RealEngine engine, String setting, Evidence evidence) {}

  private static RealServer.Order llama(String... options) {
    return RealServer.of(RealEngine.LLAMA_SERVER).options(options);
  }

  private static List<Setting> settings() {
    return List.of(
        new Setting("1 thread", llama("-t", "1"), 0, 1),
        new Setting("2 threads", llama("-t", "2"), 0, 1),
        new Setting("4 slots", llama("-t", "2", "-np", "4", "-c", "16384"), 0, 1),
        new Setting("small batches", llama("-t", "2", "-b", "64", "-ub", "16"), 0, 1),
        new Setting("no flash attention", llama("-t", "2", "-fa", "off"), 0, 1),
        new Setting(
            "cache in 8 bits", llama("-t", "2", "-fa", "on", "-ctk", "q8_0", "-ctv", "q8_0"), 0, 1),
        new Setting("under load", llama("-t", "2", "-np", "4", "-c", "16384"), 2, 1),
        new Setting(
            "float32", RealServer.of(RealEngine.VLLM).options("--max-model-len", "1024"), 0, 2),
        new Setting("bfloat16", RealServer.of(RealEngine.MLX_LM), 0, 1));
  }

  @Test
  void workersThatAreRightAreNotRefused() throws Exception {
    List<Proof> proofs = new ArrayList<>();
    for (Setting setting : settings()) {
      prove(setting, proofs);
    }

    assertThat(refused(proofs)).isEmpty();
  }

  private static List<String> refused(List<Proof> proofs) {
    List<String> refused = new ArrayList<>();
    for (Proof proof : proofs) {
      refused.addAll(refusals(proof, Optional.empty(), "alone"));
      for (Proof reference : proofs) {
        refused.addAll(
            refusals(
                proof,
                Optional.of(reference.evidence()),
                "beside " + reference.engine().word() + ", " + reference.setting()));
      }
    }
    return refused.stream().distinct().toList();
  }

  private static void prove(Setting setting, List<Proof> proofs) throws Exception {
    AtomicBoolean loaded = new AtomicBoolean(true);
    try (RealServer server = setting.order().start();
        ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> asking = new ArrayList<>();
      for (int i = 0; i < setting.clients(); i++) {
        asking.add(
            clients.submit(() -> {
              while (loaded.get()) {
                AskedServer.evidence(server);
              }
              return null;
            }));
      }
      int count = Math.max(1, PROOFS * setting.share() / 10);
      for (int i = 0; i < count; i++) {
        proofs.add(
            new Proof(setting.order().engine(), setting.name(), AskedServer.evidence(server)));
        Files.writeString(
            Path.of("target", "calibration.md"),
            "%s%nRefused: %s%n".formatted(table(proofs), refused(proofs)));
      }
      loaded.set(false);
      for (Future<?> each : asking) {
        each.get();
      }
    }
  }

  private static List<String> refusals(Proof proof, Optional<Evidence> reference, String beside) {
    return Sanity.judge(proof.evidence(), reference).stream()
        .filter(finding -> !finding.held())
        .map(finding ->
            "%s, %s, %s: %s: %s"
                .formatted(
                    proof.engine().word(),
                    proof.setting(),
                    beside,
                    finding.probe(),
                    finding.seen()))
        .toList();
  }

  /** For each engine the worst of its proofs, beside every other as reference. */
  private static String table(List<Proof> proofs) {
    StringBuilder table =
        new StringBuilder(
            """
            | engine | proofs | known by heart, least | likeliest text, least | first tokens wrong, most | of chats, most | drift of chats, most | text less likely, most |
            |---|---|---|---|---|---|---|---|
            """);
    for (RealEngine engine : RealEngine.values()) {
      List<Proof> own = proofs.stream().filter(each -> each.engine() == engine).toList();
      if (own.isEmpty()) {
        continue;
      }
      List<SanityFigures> figures = new ArrayList<>();
      for (Proof proof : own) {
        for (Proof reference : proofs) {
          figures.add(SanityFigures.of(proof.evidence(), reference.evidence()));
        }
      }
      table.append(
          String.format(
              Locale.ROOT,
              "| %s | %d | %.0f of %.0f | %.2f | %.0f | %.0f | %.3f | %.4f |%n",
              engine.word(),
              own.size(),
              own.stream()
                  .map(each -> SanityFigures.known(each.evidence()))
                  .mapToDouble(known -> known.count() - known.wrong().size())
                  .min()
                  .orElseThrow(),
              own.stream()
                  .mapToDouble(each -> SanityFigures.known(each.evidence()).count())
                  .max()
                  .orElseThrow(),
              own.stream()
                  .flatMap(each -> SanityFigures.bestText(each.evidence()).stream())
                  .mapToDouble(Evidence.TextScore::perByte)
                  .min()
                  .orElse(Double.NaN),
              most(figures, each -> each.beginnings().wrong().size()),
              most(figures, each -> each.chats().wrong().size()),
              most(figures, SanityFigures::chatDrift),
              most(figures, SanityFigures::textLoss)));
    }
    return table.toString();
  }

  private static double most(List<SanityFigures> figures, ToDoubleFunction<SanityFigures> figure) {
    return figures.stream()
        .mapToDouble(figure)
        .filter(value -> !Double.isNaN(value))
        .max()
        .orElse(Double.NaN);
  }
}
