package dev.flotilla.cli.bench;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.cli.TestShell;
import dev.flotilla.testkit.scripted.Script;
import dev.flotilla.testkit.scripted.ScriptedEngine;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What a user sees of one run. */
class BenchCommandTest {
  private final ScriptedEngine engine = ScriptedEngine.start().slots(4);
  private final TestShell shell = TestShell.piped();

  @AfterEach
  void close() {
    engine.close();
  }

  @Test
  void aRunPrintsTheFieldsBlock() {
    engine.alwaysChat(Script.answer("one ", "two ", "three"));

    int code =
        bench(
            "--num-prompts",
            "6",
            "--max-concurrency",
            "2",
            "--input-len",
            "4",
            "--output-len",
            "3");

    assertThat(shell.out())
        .startsWith("============ Serving Benchmark Result ============\n")
        .contains("Successful requests:                     6 ")
        .contains("Maximum request concurrency:             2 ")
        .contains("Total generated tokens:                  18 ")
        .contains("---------------Time to First Token----------------\nMean TTFT (ms): ");
    assertThat(code).as(shell.out()).isIn(0, 1);
    assertThat(engine.chats())
        .hasSize(6)
        .allMatch(chat -> chat.bodyText().contains("\"scripted\""));
  }

  @Test
  void theFieldsSpellingsSayTheSame(@TempDir Path folder) throws Exception {
    bench(
        "--backend",
        "openai-chat",
        "--endpoint",
        "/v1/chat/completions",
        "--dataset-name",
        "random",
        "--random-input-len",
        "4",
        "--random-output-len",
        "3",
        "--num-prompts",
        "3",
        "--request-rate",
        "inf",
        "--goodput",
        "ttft:60000",
        "tpot:60000",
        "--percentile-metrics",
        "ttft",
        "--metric-percentiles",
        "50,90",
        "--metadata",
        "commit=1a2b",
        "--label",
        "mine",
        "--save-result",
        "--save-detailed",
        "--result-dir",
        folder.toString(),
        "--result-filename",
        "r.json",
        "--disable-tqdm");

    assertThat(shell.out())
        .contains("P90 TTFT (ms):")
        .contains("Request goodput (req/s):")
        .doesNotContain("Mean ITL");
    assertThat(shell.err()).contains("the result is in " + folder.resolve("r.json"));
    JsonNode json = JsonMapper.shared().readTree(Files.readString(folder.resolve("r.json"), UTF_8));
    assertThat(json.path("completed").asInt()).isEqualTo(3);
    assertThat(json.path("request_rate").asString()).isEqualTo("inf");
    assertThat(json.path("commit").asString()).isEqualTo("1a2b");
    assertThat(json.path("label").asString()).isEqualTo("mine");
    assertThat(json.path("ttfts").size()).isEqualTo(3);
  }

  @Test
  void aReportComesAsAPageAndAsAPicture(@TempDir Path folder) throws Exception {
    engine.alwaysChat(Script.answer("one ", "two "));
    Path page = folder.resolve("run.html");
    Path picture = folder.resolve("run.png");

    bench("--num-prompts", "4", "--html", page.toString(), "--png", picture.toString());

    assertThat(page).content(UTF_8).startsWith("<!doctype html>");
    assertThat(picture).as(shell.err()).exists();
    assertThat(ImageIO.read(picture.toFile()).getWidth()).isGreaterThan(300);
  }

  @Test
  void aRampIsKeptWithTheResult(@TempDir Path folder) throws Exception {
    bench(
        ("--num-prompts 3 --input-len 4 --ramp-up-strategy linear --ramp-up-start-rps 50"
                + " --ramp-up-end-rps 100 --save-result --result-dir "
                + folder)
            .split(" "));

    try (Stream<Path> files = Files.list(folder)) {
      Path file = files.findFirst().orElseThrow();
      assertThat(file.getFileName().toString()).contains("ramp-up-linear-50.0qps-100.0qps");
      JsonNode json = JsonMapper.shared().readTree(file.toFile());
      assertThat(json.path("ramp_up_strategy").asString()).isEqualTo("linear");
      assertThat(json.path("ramp_up_end_rps").asDouble()).isEqualTo(100);
      assertThat(json.at("/flotilla/load/ramp/start_rps").asDouble()).isEqualTo(50);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "--since yesterday --dataset replay | 'yesterday' is neither a time ago",
        "--since 2h | --since is for --dataset replay"
      })
  void whenAReplayBeginsIsATimeOrATimeAgo(String options, String words) {
    assertThat(bench(options.split(" "))).isEqualTo(2);
    assertThat(shell.err()).contains(words);
  }

  @Test
  void aServerThatDiesMeanwhileIsCalledTheServer() {
    engine.alwaysChat(Script.answer("a", "b").dropAfter(1));

    assertThat(bench("--num-prompts", "2", "--max-concurrency", "1", "--input-len", "4"))
        .isEqualTo(1);
    assertThat(shell.out())
        .contains("the connection to the server failed")
        .doesNotContain("engine");
  }

  @Test
  void whereEverythingFailsTheCodeSaysSo() {
    engine.alwaysChat(Script.error(429, "rate_limit_exceeded", "slow down"));

    assertThat(bench("--num-prompts", "3", "--max-concurrency", "1", "--input-len", "4"))
        .isEqualTo(1);
    assertThat(shell.out())
        .contains("Successful requests:                     0 ")
        .contains("WARNING: None of 3 requests succeeded")
        .contains("429: slow down");
  }

  @Test
  void aServerThatIsNotThereIsOneLine() {
    engine.die();

    assertThat(bench("--num-prompts", "3")).isEqualTo(1);
    assertThat(shell.err())
        .isEqualTo(
            "flotilla: can't measure %s/v1: nothing listens on 127.0.0.1:%d\n"
                .formatted(engine.url(), engine.port()));
    assertThat(shell.out()).isEmpty();
  }

  @Test
  void aServerThatSpeaksSomethingElseIsOneLine() {
    engine.always("/v1/models", Script.raw("SSH-2.0-OpenSSH_9.6\r\n"));

    assertThat(bench("--num-prompts", "3")).isEqualTo(1);
    assertThat(shell.err())
        .startsWith("flotilla: " + engine.url() + "/v1 does not answer in HTTP: ")
        .endsWith("; if it speaks TLS, write https://…\n")
        .hasLineCount(1);
  }

  @Test
  void aServerThatIsNotOpenAisIsOneLine() {
    engine.always("/v1/models", Script.json(200, "{\"hello\":1}"));

    assertThat(bench("--num-prompts", "3")).isEqualTo(1);
    assertThat(shell.err())
        .isEqualTo(
            "flotilla: "
                + engine.url()
                + "/v1/models answers, but not as OpenAI's API does; is the address right?\n");
  }

  @Test
  void tlsWhereThereIsNoneIsOneLine() {
    String url = engine.url().replace("http:", "https:");

    assertThat(shell.run("bench", "--url", url)).isEqualTo(1);
    assertThat(shell.err())
        .startsWith("flotilla: no trusted connection to 127.0.0.1:" + engine.port())
        .hasLineCount(1);
  }

  @Test
  void aMissingKeyIsNamedAndAGivenOneIsNeverPrinted() {
    engine.apiKey("fl-secret");

    assertThat(bench("--num-prompts", "1")).isEqualTo(1);
    assertThat(shell.err()).contains("401").contains("give a key with FLOTILLA_KEY");

    TestShell keyed = TestShell.piped().with("FLOTILLA_KEY", "fl-secret");
    keyed.run("bench", "--url", engine.url(), "--num-prompts", "2", "--input-len", "4");
    assertThat(keyed.out()).contains("Successful requests:                     2 ");
    assertThat(keyed.out() + keyed.err()).doesNotContain("secret");
  }

  @Test
  void severalModelsWantOneNamed() {
    engine.always("/v1/models", Script.json(200, "{\"data\":[{\"id\":\"a\"},{\"id\":\"b\"}]}"));

    assertThat(bench("--num-prompts", "1")).isEqualTo(2);
    assertThat(shell.err()).contains("serves several models; name one with --model: a, b");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "--max-concurrency 0 | '0' is not a whole number from 1 to 10000",
        "--max-concurrency -1 | '-1' is not a whole number from 1 to 10000",
        "--max-concurrency 1000000 | '1000000' is not a whole number from 1 to 10000",
        "--num-prompts 0 | '0' is not a whole number from 1 to 100000",
        "--request-rate 0 | '0' is not a number above 0, or inf",
        "--burstiness -1 | '-1' is not a number above 0, or inf",
        "--ramp-up-start-rps 1 | need --ramp-up-strategy",
        "--ramp-up-strategy cubic | 'cubic' is not linear or exponential",
        "--ramp-up-strategy linear | needs --ramp-up-start-rps and --ramp-up-end-rps",
        "--ramp-up-strategy linear --ramp-up-start-rps 3 --ramp-up-end-rps 2 | no lower a rate",
        "--request-rate 1 --ramp-up-strategy linear | can't both set the rate",
        "--dataset nope | 'nope' is not one of random, chat, agent, file, replay",
        "--backend nope | 'nope' is not one of openai-chat, openai, vllm",
        "--endpoint /v1/embeddings | should begin with / and end with /completions",
        "--extra-body [1] | that is no JSON object",
        "--header x | 'x' is not NAME=VALUE",
        "--metadata x | 'x' is not KEY=VALUE",
        "--goodput x | goal 'x': write NAME:MILLISECONDS",
        "--percentile-metrics x | metric 'x': there are ttft, tpot, itl and e2el",
        "--save-detailed | --save-result says that it is",
        "--host h | can't both say where the server is",
      })
  void whatCantBeMeantIsWrongUsage(String options, String words) {
    assertThat(bench(options.strip().split(" "))).as(shell.err()).isEqualTo(2);
    assertThat(shell.err()).contains(words);
    assertThat(engine.chats()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--tokenizer",
        "--insecure",
        "--top-p",
        "--lora-modules",
        "--profile",
        "--hf-split"
      })
  void optionsOfTheFieldThatAreNotHereAreRefusedByName(String option) {
    assertThat(bench(option, "x")).isEqualTo(2);
    assertThat(shell.err()).contains(option + " of vllm bench serve is not here: ");
  }

  @Test
  void aServerThatComesUpLateIsWaitedFor() {
    engine.whenChat(Script.loading(), Script.answer("a"));
    engine.when("/v1/models", Script.loading());

    bench("--ready-check-timeout-sec", "30", "--num-prompts", "2", "--input-len", "4");

    assertThat(shell.out()).contains("Successful requests:                     2 ");
    assertThat(engine.chats()).hasSize(4);
  }

  @Test
  void aServerThatDoesNotComeUpIsSaid() {
    engine.alwaysChat(Script.loading());

    assertThat(bench("--ready-check-timeout-sec", "1", "--num-prompts", "2", "--input-len", "4"))
        .isEqualTo(1);
    assertThat(shell.err())
        .contains("no good answer within 1 s (--ready-check-timeout-sec): 503: Loading model");
  }

  @ParameterizedTest
  @ValueSource(strings = {"--json", "--html", "--png"})
  void aFolderThatIsNotThereIsRefusedBeforeTheLoad(String option, @TempDir Path folder) {
    Path file = folder.resolve("none").resolve("x");

    assertThat(bench("--num-prompts", "1", option, file.toString())).isEqualTo(2);

    assertThat(shell.err())
        .startsWith(
            "flotilla: " + option + ": there is no folder " + folder.resolve("none") + "\n");
    assertThat(folder.resolve("none")).doesNotExist();
    assertThat(engine.requests()).isEmpty();
  }

  @Test
  void soIsTheFolderOfASavedResult(@TempDir Path folder) {
    String none = folder.resolve("none").toString();

    assertThat(bench("--num-prompts", "1", "--save-result", "--result-dir", none)).isEqualTo(2);
    assertThat(shell.err()).startsWith("flotilla: --result-dir: there is no folder " + none + "\n");
    assertThat(bench("--num-prompts", "1", "--save-result", "--result-filename", none + "/r.json"))
        .isEqualTo(2);
    assertThat(shell.err()).contains("--result-filename: there is no folder " + none + "\n");
    assertThat(bench("--num-prompts", "1", "--html", folder.toString())).isEqualTo(2);
    assertThat(shell.err()).contains("--html: " + folder + " is a folder, not a file\n");
    assertThat(folder.resolve("none")).doesNotExist();
    assertThat(engine.requests()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--concurrency 0       | Invalid value for option '--concurrency': '0' is not",
        "--concurrency=0       | Invalid value for option '--concurrency': '0' is not",
        "--max-concurrency 0   | Invalid value for option '--max-concurrency': '0' is not",
        "--input-len x         | Invalid value for option '--input-len': 'x' is not",
        "--random-input-len x  | Invalid value for option '--random-input-len': 'x' is not",
        "--dataset-name nope   | --dataset-name: 'nope' is not one of",
        "--endpoint-type nope  | --endpoint-type: 'nope' is not one of",
        "--random-range-ratio 2 | --random-range-ratio",
        "--base-url ftp://h     | --base-url",
        "--concurrency          | Missing required parameter for option '--concurrency'",
      })
  void anOptionIsNamedAsItWasTyped(String options, String words) {
    int code =
        options.startsWith("--base-url")
            ? shell.run(("bench " + options.strip()).split(" "))
            : bench(options.strip().split(" "));

    assertThat(code).as(shell.err()).isEqualTo(2);
    assertThat(shell.err()).contains(words);
  }

  private int bench(String... options) {
    List<String> words = new ArrayList<>(List.of("bench", "--url", engine.url()));
    words.addAll(List.of(options));
    return shell.run(words.toArray(String[]::new));
  }
}
