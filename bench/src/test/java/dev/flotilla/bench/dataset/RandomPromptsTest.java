package dev.flotilla.bench.dataset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.testkit.scripted.ReceivedRequest;
import dev.flotilla.testkit.scripted.Script;
import dev.flotilla.testkit.scripted.ScriptedEngine;
import dev.flotilla.testkit.scripted.ScriptedEngine.Tokens;
import dev.flotilla.wire.http.HttpHeaders;
import java.net.URI;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The random dataset on servers that count in different ways, and in none. */
final class RandomPromptsTest {
  private final ScriptedEngine engine = ScriptedEngine.start().contextTokens(100_000);
  private final Server server =
      new Server(URI.create(engine.url() + "/v1"), HttpHeaders.NONE, Optional.empty());
  private final Datasets datasets = new Datasets(server, "scripted", DatasetLimits.DEFAULTS);

  @AfterEach
  void end() {
    server.close();
    engine.close();
  }

  @Test
  void everyPromptHasItsTokensAndGoesOnToItsFullAnswer() throws Exception {
    Dataset made = datasets.make(random(256, 128).withCount(200));

    assertThat(made.description()).isEqualTo("random 256 in 128 out");
    assertThat(made.prompts()).hasSize(200);
    assertThat(made.prompts())
        .allSatisfy(prompt -> {
          assertThat(words(prompt)).isEqualTo(256);
          assertThat(prompt.inputTokens()).isEqualTo(256);
          assertThat(prompt.maxTokens()).isEqualTo(128);
          assertThat(prompt.ignoreEos()).isTrue();
        });
    assertThat(made.prompts().stream().map(Prompt::name)).doesNotHaveDuplicates();
    assertThat(made.notes())
        .containsExactly("Tokens of prompts are counted by llama-server's /tokenize.");
  }

  @Test
  void theSameSeedGivesTheSamePromptsAndMoreOfThemBeginAlike() throws Exception {
    List<Prompt> ten = datasets.make(random(64, 8).withCount(10).withSeed(7)).prompts();

    assertThat(datasets.make(random(64, 8).withCount(10).withSeed(7)).prompts()).isEqualTo(ten);
    assertThat(datasets.make(random(64, 8).withCount(50).withSeed(7)).prompts())
        .startsWith(ten.toArray(Prompt[]::new));
    assertThat(datasets.make(random(64, 8).withCount(10).withSeed(8)).prompts())
        .doesNotContainAnyElementsOf(ten);
  }

  @Test
  void noTwoPromptsBeginAlikeButForTheFirstWord() throws Exception {
    List<Prompt> prompts = datasets.make(random(32, 8).withCount(2_000)).prompts();

    assertThat(prompts.stream().map(prompt -> firstWords(prompt, 4))).doesNotHaveDuplicates();
  }

  @Test
  void noPassageComesTwiceInAnyRun() throws Exception {
    Set<String> passages = new HashSet<>();
    int count = 0;
    for (long seed : new long[] {0, 1, 2, -1, Long.MAX_VALUE}) {
      for (Prompt prompt : datasets.make(random(60, 8).withCount(100).withSeed(seed)).prompts()) {
        List<String> words = List.of(text(prompt).split(" "));
        for (int i = 0; i + 5 <= words.size(); i += 1) {
          passages.add(String.join(" ", words.subList(i, i + 5)));
          count++;
        }
      }
    }
    assertThat(passages).hasSize(count);
  }

  @Test
  void aPrefixIsSharedByAllAndComesOnTopOfTheLength() throws Exception {
    List<Prompt> prompts =
        datasets
            .make(DatasetOptions.of("random").withLengths(20, 8, 0, 30).withCount(50))
            .prompts();

    assertThat(prompts).allSatisfy(prompt -> assertThat(words(prompt)).isEqualTo(50));
    assertThat(prompts.stream().map(prompt -> firstWords(prompt, 30)).distinct()).hasSize(1);
    assertThat(prompts.stream().map(prompt -> firstWords(prompt, 34))).doesNotHaveDuplicates();
  }

  @Test
  void lengthsAreDrawnEvenlyFromTheRange() throws Exception {
    List<Prompt> prompts =
        datasets
            .make(DatasetOptions.of("random").withLengths(101, 11, 0.5, 0).withCount(3_000))
            .prompts();

    assertThat(prompts.stream().mapToInt(Prompt::inputTokens).summaryStatistics())
        .satisfies(inputs -> {
          assertThat(inputs.getMin()).isEqualTo(50);
          assertThat(inputs.getMax()).isEqualTo(152);
          assertThat(inputs.getAverage()).isBetween(98.0, 104.0);
        });
    assertThat(prompts.stream().mapToInt(Prompt::maxTokens).summaryStatistics())
        .satisfies(outputs -> {
          assertThat(outputs.getMin()).isEqualTo(5);
          assertThat(outputs.getMax()).isEqualTo(17);
        });
    assertThat(prompts)
        .allSatisfy(prompt -> assertThat(words(prompt)).isEqualTo(prompt.inputTokens()));
  }

  @Test
  void whereWordsDoNotAddUpTextsAreCutToTheirLength() throws Exception {
    engine.tokens(Tokens.PER_BYTE);

    Dataset made =
        datasets.make(DatasetOptions.of("random").withLengths(100, 8, 0, 17).withCount(20));

    assertThat(made.prompts())
        .allSatisfy(prompt -> {
          assertThat(text(prompt)).hasSize(117);
          assertThat(prompt.inputTokens()).isEqualTo(117);
        });
    assertThat(made.prompts().stream().map(prompt -> text(prompt).substring(0, 17)).distinct())
        .hasSize(1);
  }

  @Test
  void aThousandPromptsTakeNoMoreThanAboutAThousandQuestions() throws Exception {
    datasets.make(random(128, 8).withCount(1_000));
    datasets.make(random(128, 8).withCount(1_000).withSeed(1));

    assertThat(engine.requests("/tokenize").size()).isLessThan(2_100);
    assertThat(engine.connections()).isLessThan(40);
  }

  @Test
  void vllmIsAskedInItsOwnForm() throws Exception {
    engine.always(
        "/tokenize",
        exchange -> {
          String text = exchange.request().json().path("prompt").asString("");
          int specials =
              exchange.request().json().path("add_special_tokens").asBoolean(true) ? 1 : 0;
          if (exchange.request().json().has("prompt")) {
            exchange.json(
                200,
                "{\"count\":"
                    + (count(text) + specials)
                    + ",\"max_model_len\":4096,\"tokens\":[]}");
          } else {
            exchange.json(400, "{\"error\":{\"message\":\"Field required\",\"code\":400}}");
          }
        });

    Dataset made = datasets.make(random(50, 8).withCount(20));

    // As vLLM has it, the token that marks the beginning is one of the fifty.
    assertThat(made.prompts()).allSatisfy(prompt -> assertThat(words(prompt)).isEqualTo(49));
    assertThat(made.notes()).containsExactly("Tokens of prompts are counted by vLLM's /tokenize.");
  }

  @ParameterizedTest
  @ValueSource(strings = {ScriptedEngine.CHAT, ScriptedEngine.COMPLETIONS})
  void withoutATokenizerUsageCountsAndThePromptsOfTheRunStayUnseen(String endpoint)
      throws Exception {
    engine.always("/tokenize", Script.notFound());
    if (endpoint.equals(ScriptedEngine.COMPLETIONS)) {
      engine.always(ScriptedEngine.CHAT, Script.notFound());
    }

    Dataset made = datasets.make(random(40, 8).withCount(100));

    assertThat(made.prompts())
        .allSatisfy(prompt -> {
          assertThat(words(prompt)).isEqualTo(40);
          assertThat(prompt.inputTokens()).isEqualTo(40);
        });
    assertThat(made.notes())
        .containsExactly(
            "Tokens of prompts are added up; words are counted by usage of requests for one token,"
                + " as the server has no /tokenize.");
    List<ReceivedRequest> asked = engine.requests(endpoint);
    assertThat(asked.size()).isLessThan(20);
    assertThat(asked)
        .allSatisfy(request ->
            assertThat(made.prompts())
                .noneMatch(prompt -> request.bodyText().contains(firstWords(prompt, 4))));
  }

  @Test
  void whereNobodyCountsItIsSaidAndNoLengthIsClaimed() throws Exception {
    engine.always("/tokenize", Script.notFound());
    engine.always(
        ScriptedEngine.CHAT, Script.json(200, "{\"choices\":[{\"message\":{\"content\":\"x\"}}]}"));
    engine.always(ScriptedEngine.COMPLETIONS, Script.serverError());

    Dataset made = datasets.make(random(40, 8).withCount(10));

    assertThat(made.prompts())
        .allSatisfy(prompt -> {
          assertThat(words(prompt)).isEqualTo(40);
          assertThat(prompt.inputTokens()).isEqualTo(-1);
        });
    assertThat(made.notes())
        .singleElement()
        .asString()
        .startsWith(
            "Prompts' lengths are in words, not tokens: nobody counts tokens at " + engine.url())
        .contains("something broke in the engine");
  }

  @Test
  void aTokenizerThatDiesInTheMiddleIsTold() {
    engine.always(
        "/tokenize",
        exchange -> {
          if (engine.requests("/tokenize").size() > 10) {
            Script.serverError().play(exchange);
          } else {
            exchange.json(
                200,
                "{\"tokens\":["
                    + "1,"
                        .repeat(
                            Math.max(
                                0,
                                count(exchange.request().json().path("content").asString("")) - 1))
                    + "1]}");
          }
        });

    assertThatThrownBy(() -> datasets.make(random(40, 8).withCount(100)))
        .isInstanceOfSatisfying(
            DatasetRefused.class, refused -> assertThat(refused.wrongUsage()).isFalse())
        .hasMessage(
            "the prompts' tokens can't be counted: /tokenize answers 500: something broke in the engine");
  }

  @Test
  void lengthsThatTheServersContextCannotTakeAreRefused() throws Exception {
    engine.contextTokens(2048);

    assertThatThrownBy(() -> datasets.make(random(2000, 128).withCount(10)))
        .isInstanceOfSatisfying(
            DatasetRefused.class, refused -> assertThat(refused.wrongUsage()).isTrue())
        .hasMessage(
            "prompts of up to 2000 tokens and answers of up to 128 do not fit the server's"
                + " context of 2048: choose a shorter --input-len, --random-prefix-len or --output-len");
    assertThat(datasets.make(random(1900, 128).withCount(2)).notes())
        .anySatisfy(note -> assertThat(note).contains("to the last 20 tokens"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          0       | 8 | 0    | 0  | 1       | --input-len: a whole number from 1 to 1000000, not 0
          -5      | 8 | 0    | 0  | 1       | --input-len: a whole number from 1 to 1000000, not -5
          9999999 | 8 | 0    | 0  | 1       | --input-len: a whole number from 1 to 1000000, not 9999999
          10      | -1| 0    | 0  | 1       | --output-len: a whole number from 0 to 1000000, not -1
          10      | 8 | 1    | 0  | 1       | --random-range-ratio: a number from 0 to below 1, not 1.0
          10      | 8 | -0.1 | 0  | 1       | --random-range-ratio: a number from 0 to below 1, not -0.1
          10      | 8 | NaN  | 0  | 1       | --random-range-ratio: a number from 0 to below 1, not NaN
          10      | 8 | 0    | -1 | 1       | --random-prefix-len: a whole number from 0 to 1000000, not -1
          10      | 8 | 0    | 0  | 1000000 | --num-prompts: a whole number from 0 to 100000, not 1000000
          10      | 8 | 0    | 0  | -1      | --num-prompts: a whole number from 0 to 100000, not -1
          1       | 8 | 0.5  | 0  | 1       | --input-len 1: with --random-range-ratio 0.5 a prompt may have no token at all; choose a longer one
          90000   | 8 | 0    | 0  | 90000   | --num-prompts: prompts of 8,100,000,000 tokens together are about 54,073 MiB of text; the most is 256 MiB
          """)
  void whatCannotBeMeantIsRefusedByTheOptionsName(
      int input, int output, double ratio, int prefix, int count, String message) {
    assertThatThrownBy(() ->
            datasets.make(
                DatasetOptions.of("random")
                    .withLengths(input, output, ratio, prefix)
                    .withCount(count)))
        .isInstanceOfSatisfying(
            DatasetRefused.class, refused -> assertThat(refused.wrongUsage()).isTrue())
        .hasMessage(message);
  }

  @Test
  void aDatasetThatNobodyKnowsIsNamedWithThoseThatAreThere() {
    assertThatThrownBy(() -> datasets.make(DatasetOptions.of("rnadom")))
        .hasMessage("--dataset: 'rnadom' is not one of random, chat, agent, file, replay");
  }

  private static DatasetOptions random(int input, int output) {
    return DatasetOptions.of("random").withLengths(input, output, 0, 0);
  }

  private static String text(Prompt prompt) {
    return ((Prompt.Input.Text) prompt.input()).text();
  }

  private static int words(Prompt prompt) {
    return count(text(prompt));
  }

  private static int count(String text) {
    return text.isBlank() ? 0 : text.strip().split("\\s+").length;
  }

  private static String firstWords(Prompt prompt, int count) {
    return String.join(" ", List.of(text(prompt).split(" ")).subList(0, count));
  }
}
