package dev.flotilla.shape.reply;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;
import dev.flotilla.wire.openai.ChunkScan;
import dev.flotilla.wire.text.Json;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import tools.jackson.databind.node.ObjectNode;

/** What one event costs, from its bytes in the reader's buffer to those for the client. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class ShaperBenchmark {
  private static final String TOOLS = ",\"tools\":" + Said.WEATHER;

  private final ChunkScan scan = new ChunkScan("name");
  private final byte[] llama = Said.llama("{\"content\":\" the\"}", "null").getBytes(UTF_8);
  private final byte[] thought =
      Said.llama("{\"reasoning_content\":\" the\"}", "null").getBytes(UTF_8);
  private final byte[] vllm = Said.vllm("{\"content\":\" the\"}", "null").getBytes(UTF_8);
  private final byte[] mlx =
      Said.mlx("{\"role\": \"assistant\", \"content\": \" the\"}", "null").getBytes(UTF_8);

  private StreamShaper promised;
  private StreamShaper renamed;
  private StreamShaper ofVllm;
  private StreamShaper ofMlx;
  private StreamShaper everything;

  /** Before each iteration: one answer has a role, and no million of events. */
  @Setup(Level.Iteration)
  public void begin() {
    promised = begun(Said.by(Dialect.LLAMA_SERVER, Reasoning.REASONING_CONTENT));
    renamed = begun(Said.by(Dialect.LLAMA_SERVER, Reasoning.REASONING));
    ofVllm = begun(Said.by(Dialect.VLLM, Reasoning.INLINE));
    ofMlx = begun(Said.by(Dialect.MLX_LM, Reasoning.INLINE));
    everything =
        begun(Said.by(Dialect.MLX_LM, Reasoning.REASONING_CONTENT, TOOLS + ",\"stop\":[\"STOP\"]"));
  }

  private static StreamShaper begun(Said said) {
    StreamShaper shaper = said.shaper();
    byte[] role = Said.llama("{\"role\":\"assistant\",\"content\":null}", "null").getBytes(UTF_8);
    shaper.shape(role, 0, role.length);
    return shaper;
  }

  /** As it was before there was a shaper: the scan that every event has. */
  @Benchmark
  public boolean scanAlone() {
    return scan.scan(llama, 0, llama.length);
  }

  /** llama-server with the promised place of reasoning. */
  @Benchmark
  public boolean llamaServerPasses() {
    return scan.scan(llama, 0, llama.length) && promised.passes(scan);
  }

  /** llama-server whose field is renamed. */
  @Benchmark
  public int llamaServerRenamed() {
    return shaped(thought, renamed);
  }

  /** vLLM: every event has fields of its own. */
  @Benchmark
  public int vllmShaped() {
    return shaped(vllm, ofVllm);
  }

  /** mlx-lm: every event says its role. */
  @Benchmark
  public int mlxLmShaped() {
    return shaped(mlx, ofMlx);
  }

  /** mlx-lm, with thoughts, tool calls and stop strings looked for in the text. */
  @Benchmark
  public int everythingLookedFor() {
    return shaped(mlx, everything);
  }

  private int shaped(byte[] event, StreamShaper shaper) {
    if (!scan.scan(event, 0, event.length)) {
      throw new IllegalStateException("no JSON");
    }
    if (shaper.passes(scan)) {
      throw new IllegalStateException("it needs nothing");
    }
    int bytes = 0;
    for (ObjectNode chunk : shaper.shape(event, 0, event.length)) {
      bytes += Json.MAPPER.writeValueAsBytes(chunk).length;
    }
    return bytes;
  }
}
