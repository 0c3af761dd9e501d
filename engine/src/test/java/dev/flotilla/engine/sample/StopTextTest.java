package dev.flotilla.engine.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class StopTextTest {
  @Test
  void aStopStringThatComesInPiecesIsNeverSaid() {
    StopText text = new StopText(List.of("<|end|>"), false);
    assertThat(text.add("Paris<|")).isEqualTo("Paris");
    assertThat(text.add("en")).isEmpty();
    assertThat(text.add("d|> and more")).isEmpty();
    assertThat(text.found()).contains("<|end|>");
    assertThat(text.add("still more")).isEmpty();
    assertThat(text.rest()).isEmpty();
  }

  @Test
  void whatOnlyLookedLikeAStopStringIsSaid() {
    StopText text = new StopText(List.of("abcd"), false);
    assertThat(text.add("xab")).isEqualTo("x");
    assertThat(text.add("cx")).isEqualTo("abcx");
    assertThat(text.add("abc")).isEmpty();
    assertThat(text.rest()).isEqualTo("abc");
    assertThat(text.found()).isEmpty();
  }

  @Test
  void theOneThatIsCompleteFirstCounts() {
    StopText text = new StopText(List.of("bcde", "cd"), false);
    assertThat(text.add("abcde")).isEqualTo("ab");
    assertThat(text.found()).contains("cd");
  }

  @Test
  void itIsKeptWhereTheRequestSaysSo() {
    StopText text = new StopText(List.of("\n\n"), true);
    assertThat(text.add("one\n") + text.add("\ntwo")).isEqualTo("one\n\n");
  }

  @Test
  void anyCutOfTheTextGivesTheSameAnswer() {
    Random random = new Random(5);
    for (int round = 0; round < 2_000; round++) {
      StringBuilder whole = new StringBuilder();
      for (int i = 0; i < 20; i++) {
        whole.append((char) ('a' + random.nextInt(2)));
      }
      List<String> stops = List.of("aab", "bbab");
      StopText atOnce = new StopText(stops, false);
      String expected = atOnce.add(whole.toString()) + atOnce.rest();
      StopText pieces = new StopText(stops, false);
      StringBuilder said = new StringBuilder();
      for (int from = 0; from < whole.length(); ) {
        int to = Math.min(whole.length(), from + 1 + random.nextInt(4));
        said.append(pieces.add(whole.substring(from, to)));
        from = to;
      }
      said.append(pieces.rest());
      assertThat(said.toString()).isEqualTo(expected).doesNotContain("aab");
      assertThat(pieces.found()).isEqualTo(atOnce.found());
    }
  }
}
