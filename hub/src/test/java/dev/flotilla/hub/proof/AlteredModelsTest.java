package dev.flotilla.hub.proof;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.testkit.model.AlteredModel;
import dev.flotilla.testkit.model.WrongTemplate;
import dev.flotilla.testkit.real.RealEngine;
import dev.flotilla.testkit.real.RealServer;
import dev.flotilla.testkit.real.SmallModel;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A real llama-server serves a model that was spoilt in a way that loading it does not show. */
final class AlteredModelsTest {
  private static final int EACH = 20;

  @TempDir Path folder;

  /** How a model may be wrong. */
  enum Kind {
    /** Each matrix's blocks in another order. */
    SOUP,
    /** Layers in another order, or a few of them spoilt. */
    WEIGHTS,
    /** The vocabulary's words under other numbers. */
    TOKENIZER,
    /** The chat template of another family, or its own with one thing wrong. */
    TEMPLATE;

    RealServer start(Path folder, int seed) throws IOException {
      Path file = folder.resolve("altered");
      RealServer.Order order = RealServer.of(RealEngine.LLAMA_SERVER).options("-t", "1");
      Path gguf = SmallModel.gguf();
      RealServer.Order altered =
          switch (this) {
            case SOUP -> order.model(AlteredModel.soup(gguf, file, seed));
            case WEIGHTS -> order.model(AlteredModel.wrongWeights(gguf, file, seed));
            case TOKENIZER -> order.model(AlteredModel.wrongTokenizer(gguf, file, seed));
            case TEMPLATE ->
                order.options(
                    "--jinja", "--chat-template-file", WrongTemplate.write(file, seed).toString());
          };
      return altered.start();
    }

    /**
     * Whether nothing else is needed to tell it: a model that knows less than it should, and one
     * that is asked in another form than it was trained on, may be what somebody wants.
     */
    boolean toldAlone(int seed) {
      return switch (this) {
        case SOUP, TOKENIZER -> true;
        case WEIGHTS -> seed % 2 == 0;
        case TEMPLATE -> WrongTemplate.hasMarksOfAnotherFamily(seed);
      };
    }
  }

  private static Evidence right() throws IOException {
    try (RealServer server = RealServer.of(RealEngine.LLAMA_SERVER).options("-t", "1").start()) {
      return AskedServer.evidence(server);
    }
  }

  private static List<String> amiss(Evidence seen, Optional<Evidence> reference) {
    return Sanity.judge(seen, reference).stream()
        .filter(finding -> !finding.held())
        .map(finding -> finding.probe() + ": " + finding.seen())
        .toList();
  }

  /** What was not caught, in words. */
  private List<String> missed(Kind kind, int seed, Evidence reference) throws IOException {
    try (RealServer server = kind.start(folder, seed)) {
      Evidence seen = AskedServer.evidence(server);
      List<String> missed = new ArrayList<>();
      if (amiss(seen, Optional.of(reference)).isEmpty()) {
        missed.add(
            kind + " " + seed + " passes for its reference: " + SanityFigures.of(seen, reference));
      }
      if (kind.toldAlone(seed) && amiss(seen, Optional.empty()).isEmpty()) {
        missed.add(kind + " " + seed + " passes as a first worker: " + SanityFigures.known(seen));
      }
      return missed;
    }
  }

  @Test
  void theRightModelPassesAndOneOfEachKindDoesNot() throws IOException {
    Evidence reference = right();
    assertThat(amiss(reference, Optional.empty())).isEmpty();
    assertThat(amiss(right(), Optional.of(reference))).isEmpty();
    for (Kind kind : Kind.values()) {
      assertThat(missed(kind, 0, reference)).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource
  @Tag(RealEngine.TAG)
  void eachIsCaughtTwentyTimesOfTwenty(Kind kind) throws IOException {
    Evidence reference = right();
    List<String> missed = new ArrayList<>();
    for (int seed = 0; seed < EACH; seed++) {
      missed.addAll(missed(kind, seed, reference));
    }
    assertThat(missed).isEmpty();
  }
}
