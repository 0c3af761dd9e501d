package dev.flotilla.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.flotilla.bench.measure.Conditions;
import dev.flotilla.bench.measure.Goals;
import dev.flotilla.bench.measure.Level;
import dev.flotilla.bench.measure.Load;
import dev.flotilla.bench.measure.RequestRecord;
import dev.flotilla.bench.measure.Result;
import dev.flotilla.bench.measure.Run;
import dev.flotilla.bench.measure.Runs;
import dev.flotilla.bench.measure.Summary;
import dev.flotilla.bench.measure.Sweep;
import dev.flotilla.testkit.real.Needs;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Results kept in files and read again. */
final class ResultFilesTest {
  private static final String FULL = "No space left on device";

  private static final Load.Ramp RAMP = new Load.Ramp("linear", 1, 10);

  @TempDir Path folder;

  private final ResultFiles files = new ResultFiles();

  @Test
  void aResultHasTheFieldsKeys() {
    JsonNode json = ResultJson.of(traced(), true, ZoneOffset.UTC);

    assertThat(json.path("date").asString()).isEqualTo("20260914-101500");
    assertThat(json.path("backend").asString()).isEqualTo("openai-chat");
    assertThat(json.path("model_id").asString()).isEqualTo("HuggingFaceTB/SmolLM2-135M");
    assertThat(json.path("label").asString()).isEqualTo("mine");
    assertThat(json.path("version").asString()).isEqualTo("1.2");
    assertThat(json.path("request_rate").asDouble()).isEqualTo(4);
    assertThat(json.path("max_concurrency").isNull()).isTrue();
    assertThat(json.path("completed").asInt()).isEqualTo(7);
    assertThat(json.propertyNames())
        .contains(
            "endpoint_type",
            "tokenizer_id",
            "num_prompts",
            "burstiness",
            "duration",
            "failed",
            "total_input_tokens",
            "total_output_tokens",
            "request_throughput",
            "request_goodput",
            "output_throughput",
            "total_token_throughput",
            "max_output_tokens_per_s",
            "max_concurrent_requests",
            "mean_ttft_ms",
            "median_ttft_ms",
            "std_ttft_ms",
            "p99_ttft_ms",
            "p99.9_itl_ms",
            "mean_tpot_ms",
            "mean_e2el_ms",
            "p99_e2el_ms");
    for (String detail :
        List.of(
            "input_lens",
            "output_lens",
            "ttfts",
            "itls",
            "start_times",
            "generated_texts",
            "errors")) {
      assertThat(json.path(detail).size()).as(detail).isEqualTo(9);
    }
    assertThat(json.path("ttfts").get(0).asDouble()).isEqualTo(0.1205);
  }

  @Test
  void aClosedLoopHasAnInfiniteRate() {
    JsonNode json = ResultJson.of(Runs.result(Runs.steady(2, 3, 50, 10)), false, ZoneOffset.UTC);

    assertThat(json.path("request_rate").asString()).isEqualTo("inf");
    assertThat(json.path("max_concurrency").asInt()).isEqualTo(2);
    assertThat(json.has("ttfts")).isFalse();
  }

  @Test
  void whatIsSavedReadsBackTheSame() throws IOException {
    Path file = folder.resolve("result.json");
    files.write(file, ResultJson.of(traced(), true, ZoneOffset.UTC));

    Result back = ((Saved.Runs) files.read(file)).results().getFirst();

    assertThat(back.summary()).isEqualTo(traced().summary());
    assertThat(back.findings()).isEqualTo(traced().findings());
    assertThat(back.metadata()).isEqualTo(traced().metadata());
    assertThat(Summary.of(back.run(), Goals.NONE, new TreeSet<>(List.of(99.9))))
        .as("the requests too")
        .isEqualTo(traced().summary());
    assertThat(back.run().requests())
        .extracting(RequestRecord::prompt, RequestRecord::worker, RequestRecord::outcome)
        .isEqualTo(
            traced().run().requests().stream()
                .map(r -> tuple(r.prompt(), r.worker(), r.outcome()))
                .toList());
  }

  @Test
  void aSweepReadsBackTheSame() throws IOException {
    Result run = Runs.result(Runs.steady(2, 3, 50, 10));
    Sweep sweep =
        new Sweep(
            Runs.closed(0, 0),
            Instant.parse("2026-09-14T10:15:00Z"),
            List.of(new Level(2, List.of(run, run)), new Level(1, List.of(run))),
            List.of());
    Path file = folder.resolve("sweep.json");
    files.write(file, ResultJson.of(sweep, false, ZoneOffset.UTC));

    Sweep back = ((Saved.Swept) files.read(file)).sweep();

    assertThat(back.levels()).extracting(Level::concurrency).containsExactly(1, 2);
    assertThat(back.levels().getLast().runs()).hasSize(2);
    assertThat(back.levels().getLast().runs().getFirst().summary()).isEqualTo(run.summary());
    assertThat(back.load()).isEqualTo(sweep.load());
  }

  @Test
  void appendedResultsAreRepeats() throws IOException {
    Path file = folder.resolve("runs.json");
    JsonNode json = ResultJson.of(traced(), false, ZoneOffset.UTC);
    files.append(file, json);
    files.append(file, json);

    assertThat(((Saved.Runs) files.read(file)).results()).hasSize(2);
    assertThat(Files.readAllLines(file)).as("a line each, as the field's").hasSize(2);
  }

  @Test
  void aResultOfVllmIsRead() throws IOException {
    Path file = folder.resolve("vllm.json");
    Files.writeString(
        file,
        """
        {"date": "20260914-101500", "endpoint_type": "openai-chat", "backend": "openai-chat",
         "label": null, "model_id": "Qwen/Qwen3-0.6B", "num_prompts": 2, "request_rate": "inf",
         "burstiness": 1.0, "max_concurrency": 8, "duration": 2.5, "completed": 2, "failed": 0,
         "total_input_tokens": 20, "total_output_tokens": 6, "request_throughput": 0.8,
         "request_goodput": null, "output_throughput": 2.4, "total_token_throughput": 10.4,
         "max_output_tokens_per_s": 4.0, "max_concurrent_requests": 2,
         "input_lens": [10, 10], "output_lens": [3, 3], "ttfts": [0.1, 0.2],
         "itls": [[0.05, 0.05], [0.06, 0.06]], "start_times": [1000.5, 1000.75],
         "generated_texts": ["a", "b"], "errors": ["", ""],
         "mean_ttft_ms": 150.0, "median_ttft_ms": 150.0, "std_ttft_ms": 50.0, "p99_ttft_ms": NaN,
         "mean_tpot_ms": 55.0, "median_tpot_ms": 55.0, "std_tpot_ms": 5.0, "p99_tpot_ms": 59.9}
        """);

    Result result = ((Saved.Runs) files.read(file)).results().getFirst();

    assertThat(result.summary().outputThroughput()).isEqualTo(2.4);
    assertThat(result.summary().ttft().median()).isEqualTo(150);
    assertThat(result.summary().tpot().percentile(99)).isEqualTo(59.9);
    assertThat(result.run().load().maxConcurrency()).isEqualTo(8);
    assertThat(result.run().requests()).hasSize(2);
    Summary anew = Summary.of(result.run());
    assertThat(anew.ttft().mean()).isEqualTo(150);
    assertThat(anew.tpot().mean()).isEqualTo(55);
  }

  @Test
  void aBrokenFileIsNamedWithWhatIsWrong() throws IOException {
    assertBroken("", ": the file is empty");
    assertBroken("{\"duration\": 1", ": no JSON in line 1, column 15: ");
    assertBroken(
        "{\"hello\": 1}",
        ": no result of a benchmark: it has no 'duration' (results of 'flotilla bench' and of 'vllm"
            + " bench serve' are read)");
    assertBroken(
        "{\"flotilla\": {\"version\": 7}}",
        ": written in form 7, and this version of flotilla reads form 1");
    assertBroken(
        "{\"flotilla\": {\"version\": 1}}", ": no result that can be read: it has no 'load'");
    assertBroken(
        "{\"flotilla_sweep\": {\"version\": 1, \"levels\": [{\"concurrency\": 0}]}}",
        ": no sweep that can be read: a level has a concurrency of 1 or more, and a run");
    assertBroken("[1, 2]", ": no result of a benchmark: it has no 'duration'");
    assertThatThrownBy(() -> files.read(folder.resolve("none.json")))
        .hasMessage(folder.resolve("none.json") + ": there is no such file");
    assertThatThrownBy(() -> files.read(folder))
        .hasMessage(folder + ": a folder, and not a file of results");
  }

  @Test
  void aFullDiskLeavesWhatWasThere() throws IOException {
    ResultFiles full = new ResultFiles(file -> new FullDisk(Files.newOutputStream(file)));
    Path file = folder.resolve("result.json");
    Files.writeString(file, "what was there");

    assertThatThrownBy(() -> full.write(file, "a".repeat(100)))
        .isInstanceOf(IOException.class)
        .hasMessage(file + ": nothing was written: " + FULL);

    assertThat(Files.readString(file)).isEqualTo("what was there");
    try (Stream<Path> left = Files.list(folder)) {
      assertThat(left).as("nothing half").containsExactly(file);
    }
  }

  @Test
  void whatIsNoFileIsWrittenToAsItIs() {
    Path device = Path.of("/dev/full");
    Needs.that(Files.exists(device), "/dev/full, which only Linux has");

    assertThatThrownBy(() -> files.write(device, "text"))
        .hasMessage("/dev/full: nothing was written: " + FULL);
    assertThat(Files.exists(device)).isTrue();
  }

  @Test
  void aFolderThatIsNotThereIsSaidAndNotMade() {
    Path file = folder.resolve("none").resolve("result.json");

    assertThatThrownBy(() -> files.write(file, "text"))
        .hasMessage(file + ": nothing was written: there is no such folder");

    assertThat(folder.resolve("none")).doesNotExist();
  }

  @Test
  void aRampIsInTheFieldsKeysAndReadsBack() throws IOException {
    Run run = Runs.trace();
    Result result =
        Runs.result(
            new Run(
                run.load().ramped(Optional.of(RAMP)),
                run.startedAt(),
                run.durationNanos(),
                run.requests(),
                false));
    ObjectNode json = ResultJson.of(result, false, ZoneOffset.UTC);
    assertThat(json.path("ramp_up_strategy").asString()).isEqualTo("linear");
    assertThat(json.path("ramp_up_start_rps").asDouble()).isEqualTo(1);
    assertThat(json.path("ramp_up_end_rps").asDouble()).isEqualTo(10);

    Path file = folder.resolve("ramp.json");
    files.write(file, json);
    assertThat(load(file).ramp()).contains(RAMP);
    json.remove("flotilla");
    files.write(file, json);
    assertThat(load(file).ramp()).as("as the field writes it").contains(RAMP);
  }

  @Test
  void aResultThatWasSavedBeforeRampsWereKeptReadsBack() throws IOException {
    ObjectNode json = ResultJson.of(traced(), false, ZoneOffset.UTC);
    ((ObjectNode) json.path("flotilla").path("load")).remove("ramp");
    Path file = folder.resolve("old.json");
    files.write(file, json);

    assertThat(load(file)).isEqualTo(traced().run().load());
  }

  private Load load(Path file) throws IOException {
    return ((Saved.Runs) files.read(file)).results().getFirst().run().load();
  }

  @Test
  void namesAreVllms() {
    Instant at = Instant.parse("2026-09-14T10:15:00Z");
    Load closed = Runs.closed(8, 64);
    Load open = Runs.trace().load();

    assertThat(name(closed, Optional.empty(), at))
        .isEqualTo("openai-chat-infqps-concurrency8-SmolLM2-135M-20260914-101500.json");
    assertThat(name(open, Optional.of("mine"), at))
        .isEqualTo("mine-4.0qps-SmolLM2-135M-20260914-101500.json");
    assertThat(name(open.ramped(Optional.of(RAMP)), Optional.empty(), at))
        .isEqualTo("openai-chat-ramp-up-linear-1.0qps-10.0qps-SmolLM2-135M-20260914-101500.json");
    assertThat(name(open, Optional.of("../../etc\u0000"), at))
        .isEqualTo("_./.._etc_-4.0qps-SmolLM2-135M-20260914-101500.json".replace('/', '_'));
  }

  private static String name(Load load, Optional<String> label, Instant at) {
    return ResultFiles.name(load, label, at, ZoneOffset.UTC);
  }

  private void assertBroken(String content, String message) throws IOException {
    Path file = Files.writeString(folder.resolve("broken.json"), content);
    assertThatThrownBy(() -> files.read(file))
        .isInstanceOf(BrokenResult.class)
        .hasMessageStartingWith(file + message);
  }

  private static Result traced() {
    Run run = Runs.trace();
    return Result.of(
        run,
        Goals.NONE,
        new TreeSet<>(List.of(99.9)),
        Conditions.UNKNOWN,
        Map.of("label", "mine", "version", "1.2"));
  }

  /** A disk that takes ten bytes more. */
  private static final class FullDisk extends FilterOutputStream {
    FullDisk(OutputStream out) {
      super(out);
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
      out.write(bytes, from, Math.min(10, length));
      throw new IOException(FULL);
    }
  }
}
