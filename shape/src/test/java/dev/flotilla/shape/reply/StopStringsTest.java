package dev.flotilla.shape.reply;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** mlx-lm went on from "The capital of " to "nce is Paris." for a stop at "Fra". */
class StopStringsTest {
  private static final String SAID = "The capital of France is Paris.";

  @Test
  void theTextEndsBeforeTheStopStringHoweverItComes() {
    for (var pieces : List.of(Stages.whole(SAID, "length"), Stages.characters(SAID, "length"))) {
      StopStrings stage = new StopStrings(List.of("Fra"));
      assertThat(Stages.through(stage, pieces)).containsExactly("text:The capital of ", "stop");
      assertThat(stage.stopped()).isTrue();
    }
  }

  @Test
  void ofSeveralTheFirstInTheTextCounts() {
    StopStrings stage = new StopStrings(List.of("Paris", "is", "nce is P"));
    assertThat(Stages.through(stage, Stages.whole(SAID, "length")))
        .containsExactly("text:The capital of Fra", "stop");
  }

  @Test
  void whatOnlyBeginsLikeOneIsText() {
    StopStrings stage = new StopStrings(List.of("Paris!", "..."));
    assertThat(Stages.through(stage, Stages.characters(SAID, "length")))
        .containsExactly("text:" + SAID, "length");
    assertThat(stage.stopped()).isFalse();
  }

  @Test
  void aStopStringThatRepeatsItselfIsFound() {
    StopStrings stage = new StopStrings(List.of("aab"));
    assertThat(Stages.through(stage, Stages.characters("xaaab", "length")))
        .containsExactly("text:xa", "stop");
  }
}
