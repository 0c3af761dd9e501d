package dev.flotilla.bench.dataset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.testkit.scripted.Script;
import dev.flotilla.testkit.scripted.ScriptedEngine;
import dev.flotilla.wire.http.HttpHeaders;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A hub's usage log, sent once more. */
final class ReplayPromptsTest {
  @TempDir private Path folder;
  private final ScriptedEngine engine = ScriptedEngine.start();
  private final Server server =
      new Server(URI.create(engine.url() + "/v1"), HttpHeaders.NONE, Optional.empty());
  private final Datasets datasets = new Datasets(server, "scripted", DatasetLimits.DEFAULTS);

  @AfterEach
  void end() {
    server.close();
    engine.close();
  }

  @Test
  void requestsComeAtTheirGapsWithTheirLengths() throws Exception {
    // The second came first: it took longer.
    Path log =
        log(
            line("2026-03-01T08:00:10.500Z", 500_000, "talk", "ann", 21, 7),
            line("2026-03-01T08:00:11Z", 3_000_000, "talk", "bob", 301, 40),
            line("2026-03-01T08:01:08Z", 0, "talk", "ann", 2, 1));

    Dataset made = datasets.make(replay(log));

    assertThat(made.description()).isEqualTo("replay of log.jsonl");
    assertThat(made.prompts())
        .extracting(prompt -> prompt.at().orElseThrow())
        .containsExactly(Duration.ZERO, Duration.ofSeconds(2), Duration.ofMinutes(1));
    assertThat(made.prompts()).extracting(Prompt::maxTokens).containsExactly(40, 7, 1);
    assertThat(made.prompts()).allSatisfy(prompt -> assertThat(prompt.ignoreEos()).isTrue());
    // The engine's template puts one token around a message, which the log has counted.
    assertThat(made.prompts()).extracting(Prompt::inputTokens).containsExactly(300, 20, 1);
  }

  @Test
  void whatCameBeforeATimeIsLeftOut() throws Exception {
    Path log =
        log(
            line("2026-03-01T08:00:00Z", 0, "talk", "", 20, 1),
            line("2026-03-01T09:00:01Z", 2_000_000, "talk", "", 20, 2),
            line("2026-03-01T09:00:01Z", 1_000_000, "talk", "", 20, 3),
            line("2026-03-01T09:00:05Z", 0, "talk", "", 20, 4));

    Optional<Instant> since = Optional.of(Instant.parse("2026-03-01T09:00:00Z"));

    assertThat(datasets.make(replay(log).withSince(since)).prompts())
        .as("the second one ended after that and came before it")
        .extracting(Prompt::maxTokens)
        .containsExactly(3, 4);
    Optional<Instant> never = Optional.of(Instant.parse("2026-04-01T00:00:00Z"));
    assertThatThrownBy(() -> datasets.make(replay(log).withSince(never)))
        .hasMessageContaining("4 came before 2026-04-01T00:00:00Z (--since)");
  }

  @Test
  void aHubIsAskedForItsLogSinceThen() throws Exception {
    engine.always(
        "/api/usage/log", Script.json(200, line("2026-03-01T09:00:05Z", 0, "m", "", 9, 4)));

    datasets.make(
        DatasetOptions.of("replay").withSince(Optional.of(Instant.parse("2026-03-01T09:00:00Z"))));

    assertThat(engine.requests("/api/usage/log").getFirst().path())
        .contains("&since=2026-03-01T09%3A00%3A00Z");
  }

  @Test
  void fasterMeansSmallerGaps() throws Exception {
    Path log =
        log(
            line("2026-03-01T08:00:00Z", 0, "talk", "", 20, 7),
            line("2026-03-01T08:00:10Z", 0, "talk", "", 20, 7));

    Dataset made = datasets.make(replay(log).withReplay(4, Optional.empty(), Optional.empty()));

    assertThat(made.prompts().getLast().at()).contains(Duration.ofMillis(2_500));
    assertThat(made.description()).isEqualTo("replay of log.jsonl at 4 times the speed");
  }

  @Test
  void modelAndKeyChooseAndWhatCannotBeMadeAgainIsLeftOut() throws Exception {
    engine.contextTokens(1_000);
    Path log =
        log(
            line("2026-03-01T08:00:00Z", 0, "talk", "ann", 20, 7),
            line("2026-03-01T08:00:01Z", 0, "other", "ann", 20, 7),
            line("2026-03-01T08:00:02Z", 0, "talk", "bob", 20, 7),
            line("2026-03-01T08:00:03Z", 0, "talk", "ann", -1, -1),
            line("2026-03-01T08:00:04Z", 0, "talk", "ann", 990, 11),
            line("2026-03-01T08:00:05Z", 0, "talk", "ann", 25, 8));

    Dataset made =
        datasets.make(replay(log).withReplay(1, Optional.of("talk"), Optional.of("ann")));

    assertThat(made.prompts()).extracting(Prompt::maxTokens).containsExactly(7, 8);
    assertThat(made.notes())
        .startsWith(
            "1 request is left out: prompt and answer do not fit the server's context of 1000.",
            "1 request is left out: no counted tokens, or no text that was made.");
    assertThat(datasets.make(replay(log).withCount(1)).prompts()).hasSize(1);
    assertThatThrownBy(
            () -> datasets.make(replay(log).withReplay(1, Optional.of("nobody"), Optional.empty())))
        .hasMessageStartingWith("log.jsonl has no request that can be made again: 6 of 6 are of");
  }

  @Test
  void withoutAFileTheServerItselfIsAskedForItsLog() throws Exception {
    engine.when(
        "/api/usage/log",
        Script.json(200, line("2026-03-01T08:00:00Z", 0, "talk", "ann", 20, 7) + "\n"));

    assertThat(
            datasets
                .make(
                    DatasetOptions.of("replay")
                        .withReplay(1, Optional.of("talk"), Optional.empty()))
                .prompts())
        .hasSize(1);

    assertThat(engine.requests("/api/usage/log").getFirst().path())
        .isEqualTo("/api/usage/log?limit=100000&model=talk");
    assertThatThrownBy(() -> datasets.make(DatasetOptions.of("replay")))
        .hasMessage(
            engine.url()
                + "/v1 gives no usage log (404: File Not Found); if it is no hub, name a log with"
                + " --dataset-path, made by 'flotilla get usage -o jsonl'");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          {"at":"yesterday","totalMicros":1,"promptTokens":1,"completionTokens":1} | at is the time at which a request ended
          {"totalMicros":1,"promptTokens":1,"completionTokens":1}  | at is the time at which a request ended
          {"at":"2026-03-01T08:00:00Z","totalMicros":-1,"promptTokens":1,"completionTokens":1} | totalMicros is the time of a request, not -1
          {"at":"2026-03-01T08:00:00Z","totalMicros":9999999999999999,"promptTokens":1,"completionTokens":1} | totalMicros is the time of a request
          {"at":"2026-03-01T08:00:00Z","totalMicros":1,"promptTokens":1.5,"completionTokens":1} | has the whole numbers
          {"at":"2026-03-01T08:00:00Z","totalMicros":1,"promptTokens":1000000000,"completionTokens":1} | a request has at most 1000000 tokens
          {"prompt":"x"} | at is the time at which a request ended
          {"error":{"message":"the disk is gone"}} | the hub could not go on: the disk is gone
          """)
  void aLineThatIsNoRequestIsNamed(String line, String reason) throws Exception {
    Path log = log(line("2026-03-01T08:00:00Z", 0, "talk", "", 20, 7), line);

    assertThatThrownBy(() -> datasets.make(replay(log)))
        .isInstanceOf(DatasetRefused.class)
        .hasMessageStartingWith(log + " line 2: ")
        .hasMessageContaining(reason);
  }

  @ParameterizedTest
  @CsvSource({"0", "-1", "NaN", "Infinity", "1e9"})
  void aSpeedThatCannotBeMeantIsRefused(double speedup) {
    assertThatThrownBy(() ->
            datasets.make(
                DatasetOptions.of("replay")
                    .withReplay(speedup, Optional.empty(), Optional.empty())))
        .hasMessageStartingWith("--speedup: a number above 0 and at most 1000000, not ");
  }

  private static DatasetOptions replay(Path log) {
    return DatasetOptions.of("replay").withPath(log);
  }

  private static String line(
      String at, long micros, String model, String key, int input, int output) {
    return ("{\"id\":1,\"at\":\"%s\",\"requestId\":\"r\",\"key\":\"%s\",\"model\":\"%s\","
            + "\"path\":\"/v1/chat/completions\",\"promptTokens\":%d,\"completionTokens\":%d,"
            + "\"totalMicros\":%d}")
        .formatted(at, key, model, input, output, micros);
  }

  private Path log(String... lines) throws Exception {
    return Files.write(folder.resolve("log.jsonl"), List.of(lines));
  }
}
