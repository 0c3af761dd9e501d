package dev.flotilla.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.bench.measure.Engine;
import dev.flotilla.bench.measure.Engine.AtConcurrency;
import dev.flotilla.bench.measure.RequestRecord.Kind;
import dev.flotilla.bench.measure.Runs;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Engines beside one another, as SiliconBench has them. */
final class SiliconReportTest {
  private final Engine sound =
      engine(
          "llamacpp",
          new AtConcurrency(
              2,
              10,
              Optional.of(Runs.result(Runs.steady(2, 5, 50, 10))),
              OptionalLong.of(1_234_000_000L),
              Optional.empty(),
              ""),
          new AtConcurrency(
              4,
              4,
              Optional.of(
                  Runs.result(
                      Runs.run(4, List.of(Runs.failed(0, 0, Kind.CUT, "cut after 3 chunks"))))),
              OptionalLong.empty(),
              Optional.empty(),
              ""));
  private final Engine absent =
      engine(
          "vllm",
          new AtConcurrency(
              2,
              10,
              Optional.empty(),
              OptionalLong.empty(),
              Optional.empty(),
              "server crashed: exit code 1"));

  @Test
  void theTableHasAColumnForEachEngine() {
    assertThat(SiliconReport.markdown(List.of(sound, absent)))
        .startsWith(
            """
            ## Concurrency: 2

            | Metric | llamacpp | vllm |
            |---|---:|---:|
            | Successful / Failed | 10 / 0 | CRASHED |
            | TTFT avg (ms) | 50.0 | N/A |
            """)
        .contains("| Throughput avg (tok/s) | 100.0 | N/A |")
        .contains("| Latency p99 (s) | 0.14 | N/A |")
        .contains("| Peak memory (GB) | 1.23 | N/A |")
        .contains("## Concurrency: 4")
        .contains("| Successful / Failed | CRASHED | NOT RUN |")
        .endsWith(
            """
            ## Total Benchmark Duration

            | Framework | llamacpp | vllm |
            |---|---:|---:|
            | Duration | 1.5m | 1.5m |
            """);
  }

  @Test
  void theJsonIsSiliconBenchs() {
    JsonNode json =
        SiliconReport.comparison(List.of(sound, absent), "SmolLM2", "agent", ZoneOffset.UTC);
    JsonNode llama = json.path("results").path("llamacpp");

    assertThat(json.path("frameworks").size()).isEqualTo(2);
    assertThat(llama.path("timestamp").asString()).isEqualTo("2026-09-14T10:15:00");
    assertThat(llama.path("machine").path("chip").asString()).isEqualTo("Xeon");
    assertThat(llama.path("run_config").path("levels_share_server").asBoolean()).isFalse();
    JsonNode level = llama.path("concurrency_results").get(0);
    assertThat(level.path("throughput_avg_tps").asDouble()).isCloseTo(100, within(1e-9));
    assertThat(level.path("tokens_per_chunk").asDouble()).isEqualTo(1);
    assertThat(level.path("mem_used_gb").asDouble()).isEqualTo(1.23);
    JsonNode crashed = llama.path("concurrency_results").get(1);
    assertThat(crashed.path("error").asString()).isEqualTo("no successful requests");
    assertThat(crashed.path("error_samples").get(0).asString()).isEqualTo("cut after 3 chunks");
    assertThat(
            json.path("results")
                .path("vllm")
                .path("concurrency_results")
                .get(0)
                .path("error")
                .asString())
        .isEqualTo("server crashed: exit code 1");
  }

  private static Engine engine(String name, AtConcurrency... levels) {
    return new Engine(
        name,
        Optional.of("b1"),
        "SmolLM2",
        "http://127.0.0.1:8001",
        Instant.parse("2026-09-14T10:15:00Z"),
        new Engine.Machine("host", "Xeon", "Linux 6"),
        List.of(levels),
        90,
        false);
  }
}
