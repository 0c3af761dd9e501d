package dev.flotilla.hub.proof;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.hub.proof.Evidence.Answer;
import dev.flotilla.hub.proof.Evidence.Embedding;
import dev.flotilla.hub.proof.Evidence.Option;
import dev.flotilla.hub.proof.Evidence.TextScore;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class SanityTest {
  private static final Evidence RIGHT = answers("dog", "Friday", "H", "b", "right", "yes");

  private static Evidence answers(String... firsts) {
    List<Answer> answers = new ArrayList<>();
    for (String first : firsts) {
      answers.add(
          new Answer(
              "q" + answers.size(),
              10,
              10,
              List.of(new Option(first, -0.2), new Option("other", -2.5))));
    }
    return new Evidence(
        answers,
        List.of(new TextScore(" east and west", 4, 14, -7)),
        "The sea is blue.",
        List.of(),
        List.of());
  }

  private static Evidence with(Evidence of, List<TextScore> texts, String sample) {
    return new Evidence(of.answers(), texts, sample, List.of(), List.of());
  }

  private static List<String> amiss(Evidence seen, @Nullable Evidence reference) {
    return Sanity.judge(seen, Optional.ofNullable(reference)).stream()
        .filter(finding -> !finding.held())
        .map(finding -> finding.probe() + ": " + finding.expected() + " / " + finding.seen())
        .toList();
  }

  @Test
  void whatAnswersAsTheReferenceIsFine() {
    assertThat(amiss(RIGHT, RIGHT)).isEmpty();
    assertThat(Sanity.judge(RIGHT, Optional.empty())).allMatch(Finding::held);
  }

  @Test
  void aModelThatErrsNowAndThenIsFine() {
    assertThat(amiss(answers("dog", "Friday", "H", "b", "left", "no"), RIGHT)).isEmpty();
  }

  @Test
  void otherAnswersThroughoutAreNot() {
    assertThat(amiss(answers("cat", "Friday", "K", "a", "left", "no"), RIGHT))
        .containsExactly(
            "first tokens: at least 4 of 6 as the reference has / 1; \"q0\": 'cat' for 'dog', \"q2\":"
                + " 'K' for 'H', \"q3\": 'a' for 'b', \"q4\": 'left' for 'right', \"q5\": 'no' for"
                + " 'yes'");
  }

  @Test
  void nearTiesOfTheReferenceSayNothing() {
    Evidence tie =
        new Evidence(
            List.of(
                new Answer(
                    "q0", 10, 10, List.of(new Option("Paris", -1), new Option("The", -1.4)))),
            List.of(),
            "text",
            List.of(),
            List.of());
    Evidence other =
        new Evidence(
            List.of(
                new Answer(
                    "q0", 10, 10, List.of(new Option("The", -1), new Option("Paris", -1.4)))),
            List.of(),
            "text",
            List.of(),
            List.of());
    assertThat(amiss(other, tie)).isEmpty();
  }

  @Test
  void anotherCountOfTokensIsAnotherTokenizerOrTemplate() {
    Evidence longer =
        new Evidence(
            RIGHT.answers().stream()
                .map(a -> new Answer(a.question(), a.promptTokens() + 4, -1, a.options()))
                .toList(),
            RIGHT.texts(),
            RIGHT.sample(),
            List.of(),
            List.of());
    assertThat(amiss(longer, RIGHT))
        .containsExactly("tokens of \"q0\": 10, as the model's reference has / 14");
  }

  @Test
  void aTokenAtTheBeginningIsTheEngines() {
    Evidence one =
        new Evidence(
            RIGHT.answers().stream()
                .map(a -> new Answer(a.question(), a.promptTokens() + 1, -1, a.options()))
                .toList(),
            RIGHT.texts(),
            RIGHT.sample(),
            List.of(),
            List.of());
    assertThat(amiss(one, RIGHT)).isEmpty();
  }

  @Test
  void countsThatTheEngineItselfDisagreesOnAreAmiss() {
    Evidence odd =
        new Evidence(
            List.of(new Answer("q0", 10, 17, List.of())), List.of(), "text", List.of(), List.of());
    assertThat(amiss(odd, null))
        .containsExactly("tokens of \"q0\": 17, as its tokenizer counts / 10, as its usage says");
  }

  @Test
  void marksOfATemplateInTheAnswerAreAmissWithoutAReferenceToo() {
    assertThat(amiss(with(RIGHT, RIGHT.texts(), "Hello<|im_end|>\n<|im_start|>user"), null))
        .singleElement()
        .asString()
        .contains("no marks of a template / <|im_start|>, <|im_end|> in: Hello");
  }

  @Test
  void anImprobableTextIsAmissForTheFirstWorkerToo() {
    Evidence soup = with(RIGHT, List.of(new TextScore(" east and west", 4, 14, -120)), "asdf");
    assertThat(amiss(soup, null))
        .containsExactly(
            "fixed texts: one is known: -1.60 nats a byte or more / -8.57 at best, for \"east and"
                + " west\"");
    assertThat(amiss(soup, RIGHT))
        .containsExactly(
            "fixed texts: at most 0.35 nats a byte less likely than for the reference / 8.07 less"
                + " likely");
  }

  @Test
  void digitsAloneProveNoTokenizer() {
    Evidence digits =
        with(
            RIGHT,
            List.of(
                new TextScore(" 6, 7, 8", 8, 8, -0.1),
                new TextScore(" east and west", 4, 14, -120)),
            "text");
    assertThat(amiss(digits, null)).hasSize(1);
  }

  @Test
  void noAnswerIsAmiss() {
    assertThat(amiss(with(RIGHT, RIGHT.texts(), "  "), RIGHT))
        .containsExactly("a short answer: text / nothing");
  }

  @Test
  void embeddingsAreComparedByTheirDirection() {
    Evidence one = vectors(1, 0.5, 0.25);
    assertThat(amiss(one, one)).isEmpty();
    assertThat(amiss(vectors(0.25, -0.5, 1), one)).hasSize(1);
    assertThat(amiss(vectors(1, 0.5), one)).containsExactly("embedding of \"t\": 3 numbers / 2");
    assertThat(amiss(vectors(0, 0, 0), null)).hasSize(1);
  }

  private static Evidence vectors(double... values) {
    List<Double> vector = new ArrayList<>();
    for (double value : values) {
      vector.add(value);
    }
    return new Evidence(List.of(), List.of(), "", List.of(new Embedding("t", vector)), List.of());
  }
}
