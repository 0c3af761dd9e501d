package dev.flotilla.engine.speed;

import dev.flotilla.gguf.EngineHeap;
import dev.flotilla.gguf.GgufHeader;
import dev.flotilla.gguf.GgufRefused;
import dev.flotilla.gguf.MemoryArithmetic;
import dev.flotilla.gguf.MemoryArithmetic.CacheLayout;
import dev.flotilla.testkit.real.SmallModel;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * {@code flotilla serve} and llama-server beside it: the same file, the same threads, the same
 * requests, in turns, round by round; prints a row for each shape of load with the median ratio.
 * {@code bench/engine/run} builds and runs it.
 *
 * <p>Prompts are token numbers, new ones in each round so that no cache knows them, unless the
 * shape is about the cache; answers are greedy and as long as asked for. Both servers have room for
 * the same number of tokens; llama-server has a slot for each request, but four for sixteen agents.
 * Starts are with no options but the threads, and with the file in the system's memory.
 */
final class ServeSpeed {
  private static final String SHAPES = "start,one,eight,agents";
  private static final int CONTEXT = 8192;

  /** This engine's own defaults. */
  private static final int SLOTS = 8;

  private static final int START_CONTEXT = 4096;
  private static final int AGENTS = 16;
  private static final int GROUPS = 4;
  private static final int SHARED = 4096;
  private static final int OWN = 512;

  /** Least starts of each, however few the rounds. */
  private static final int STARTS = 3;

  /** Of this engine's process, what is not weights, heap or cache; it prints the exact sum. */
  private static final long PROCESS_BYTES = 160L << 20;

  private final long begun = System.nanoTime();
  private final int threads;
  private final Path file;
  private final GgufHeader header;
  private final int rounds;
  private final List<String> rows = new ArrayList<>();

  private ServeSpeed(Path file, int threads, int rounds) throws GgufRefused {
    this.file = file;
    header = GgufHeader.read(file);
    this.threads = threads;
    this.rounds = rounds;
  }

  /** Arguments: rounds, threads, and the model's file, the small one by default. */
  public static void main(String[] args) throws Exception {
    int rounds = Integer.parseInt(args[0]);
    int threads = Integer.parseInt(args[1]);
    Path file = args.length > 2 && !args[2].isEmpty() ? Path.of(args[2]) : SmallModel.gguf();
    ServeSpeed speed = new ServeSpeed(file, threads, rounds);
    List<String> shapes = List.of((args.length > 3 ? args[3] : SHAPES).split(",", -1));
    if (shapes.contains("start")) {
      speed.start();
    }
    if (shapes.contains("one")) {
      speed.one();
    }
    if (shapes.contains("eight")) {
      speed.eight();
    }
    if (shapes.contains("agents")) {
      speed.agents();
    }
    System.out.println("| shape | this engine | llama-server | ratio (least to most) | goal |");
    System.out.println("|---|---|---|---|---|");
    speed.rows.forEach(System.out::println);
  }

  // ---- the shapes

  private void start() throws Exception {
    Map<String, double[][]> seen = new LinkedHashMap<>();
    for (int round = 0; round < Math.max(STARTS, rounds); round++) {
      for (int i : order(round)) {
        try (Target target =
            i == 0
                ? Target.ours(file, EngineHeap.bytes(header, SLOTS), "--threads", threads + "")
                : Target.llama(file, threads, SLOTS, START_CONTEXT)) {
          note(seen, "ready", i, target.startSeconds());
          note(seen, "first", i, client(target).answer(tokens(round, 16), 64).rate());
        }
      }
      say("start", round);
    }
    plain("start to ready, default options: s", both(seen, "ready"), "≤ 2");
    ratio("decode of the first answer after a start: tok/s", both(seen, "first"), "");
  }

  private void one() throws Exception {
    Map<String, double[][]> seen = new LinkedHashMap<>();
    try (Target ours = ours(1, CONTEXT);
        Target theirs = Target.llama(file, threads, 1, CONTEXT)) {
      Target[] both = {ours, theirs};
      warm(both);
      for (int round = 0; round < rounds; round++) {
        int seed = 1000 * (round + 1);
        for (int i : order(round)) {
          Client client = client(both[i]);
          note(seen, "decode", i, client.answer(tokens(seed, 16), 128).rate());
          note(
              seen, "prefill 512", i, 512 / client.answer(tokens(seed + 1, 512), 1).firstSeconds());
          int[] deep = tokens(seed + 2, 4096);
          double first = client.answer(deep, 1).firstSeconds();
          note(seen, "prefill 4k", i, 4096 / first);
          Client.Answer again = client.answer(deep, 64);
          note(seen, "decode 4k", i, again.rate());
          note(seen, "again", i, again.firstSeconds() / first);
        }
        say("one request at a time", round);
      }
    }
    ratio("decode, one request, short context: tok/s", both(seen, "decode"), "≥ 1.0");
    ratio("decode, one request, 4k context: tok/s", both(seen, "decode 4k"), "≥ 1.2");
    ratio("prefill of 512: tok/s", both(seen, "prefill 512"), "≥ 0.9");
    ratio("prefill of 4,096: tok/s", both(seen, "prefill 4k"), "≥ 0.9");
    plain(
        "the same 4,096 again: time to the first token, of the first time's",
        both(seen, "again"),
        "≤ 0.1");
  }

  private void eight() throws Exception {
    Map<String, double[][]> seen = new LinkedHashMap<>();
    try (Target ours = ours(8, 1024);
        Target theirs = Target.llama(file, threads, 8, 1024)) {
      Target[] both = {ours, theirs};
      warm(both);
      for (int round = 0; round < rounds; round++) {
        int seed = 100_000 * (round + 1);
        for (int i : order(round)) {
          List<int[]> prompts = new ArrayList<>();
          for (int r = 0; r < 8; r++) {
            prompts.add(tokens(seed + r, 32));
          }
          note(seen, "out", i, together(both[i], prompts, 96).rate());
        }
        say("eight at once", round);
      }
    }
    ratio("8 at once, 32 in, 96 out: output tok/s", both(seen, "out"), "≥ 1.2");
  }

  private void agents() throws Exception {
    Map<String, double[][]> seen = new LinkedHashMap<>();
    try (Target ours = ours(AGENTS, CONTEXT, "--memory", memoryFor(4 * CONTEXT));
        Target theirs = Target.llama(file, threads, 4, CONTEXT)) {
      Target[] both = {ours, theirs};
      warm(both);
      for (int round = 0; round < Math.max(1, rounds / 2); round++) {
        int seed = 10_000_000 * (round + 1);
        for (int i : order(round)) {
          List<int[]> prompts = new ArrayList<>();
          for (int r = 0; r < AGENTS; r++) {
            int[] prompt = tokens(seed + r % GROUPS, SHARED + OWN);
            System.arraycopy(tokens(seed + 100 + r, OWN), 0, prompt, SHARED, OWN);
            prompts.add(prompt);
          }
          // each group's prefix has been seen once, as it has in a conversation that goes on
          for (int g = 0; g < GROUPS; g++) {
            client(both[i]).answer(Arrays.copyOf(prompts.get(g), SHARED), 1);
          }
          Together all = together(both[i], prompts, 70);
          note(seen, "first", i, all.meanFirstSeconds());
          note(seen, "out", i, all.rate());
        }
        say("agents", round);
      }
    }
    String shape = "agents, 16 at once, 4 prefixes of 4,096, 512 of their own in, 70 out: ";
    ratio(shape + "mean s to the first token", both(seen, "first"), "≤ 0.15");
    ratio(shape + "output tok/s", both(seen, "out"), "≥ 1.5");
  }

  // ---- running them

  private Target ours(int slots, int context, String... more) throws IOException {
    List<String> options = new ArrayList<>();
    options.addAll(List.of("--threads", threads + ""));
    options.addAll(List.of("--slots", slots + "", "--context", context + ""));
    options.addAll(List.of(more));
    return Target.ours(file, EngineHeap.bytes(header, slots), options.toArray(new String[0]));
  }

  /** All the memory of this engine with a cache of about so many tokens. */
  private String memoryFor(int tokens) throws GgufRefused {
    long bytes =
        MemoryArithmetic.cacheBytes(header, CacheLayout.plain(tokens, 1))
            + MemoryArithmetic.weightBytes(header)
            + EngineHeap.bytes(header, AGENTS)
            + PROCESS_BYTES;
    return (bytes >> 20) + "M";
  }

  private Client client(Target target) {
    return new Client(target.port());
  }

  private record Together(double meanFirstSeconds, double rate) {}

  private Together together(Target target, List<int[]> prompts, int out) throws Exception {
    long start = System.nanoTime();
    double first = 0;
    int tokens = 0;
    try (ExecutorService askers = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Callable<Client.Answer>> calls = new ArrayList<>();
      for (int[] prompt : prompts) {
        calls.add(() -> client(target).answer(prompt, out));
      }
      for (Future<Client.Answer> answer : askers.invokeAll(calls)) {
        first += answer.get().firstSeconds();
        tokens += answer.get().tokens();
      }
    }
    return new Together(first / prompts.size(), tokens / ((System.nanoTime() - start) / 1e9));
  }

  /** What runs often is compiled before the clock; both get the same. */
  private void warm(Target[] both) throws Exception {
    for (Target target : both) {
      for (int i = 0; i < 4; i++) {
        client(target).answer(tokens(i, 300), 100);
      }
    }
  }

  private static int[] order(int round) {
    return round % 2 == 0 ? new int[] {0, 1} : new int[] {1, 0};
  }

  /** Numbers of ordinary tokens, the same for the same seed. */
  private static int[] tokens(int seed, int count) {
    Random random = new Random(seed);
    int[] tokens = new int[count];
    for (int i = 0; i < count; i++) {
      tokens[i] = 100 + random.nextInt(40_000);
    }
    return tokens;
  }

  // ---- figures

  /** This engine's figures, and llama-server's. */
  private static double[][] both(Map<String, double[][]> seen, String what) {
    return seen.computeIfAbsent(what, _ -> new double[2][0]);
  }

  private void note(Map<String, double[][]> seen, String what, int who, double value) {
    double[][] both = both(seen, what);
    both[who] = Arrays.copyOf(both[who], both[who].length + 1);
    both[who][both[who].length - 1] = value;
  }

  private void ratio(String what, double[][] both, String goal) {
    double[] ratios = new double[both[0].length];
    for (int i = 0; i < ratios.length; i++) {
      ratios[i] = both[0][i] / both[1][i];
    }
    Arrays.sort(ratios);
    rows.add(
        String.format(
            Locale.ROOT,
            "| %s | %.4g | %.4g | %.2f (%.2f to %.2f) | %s |",
            what,
            median(both[0]),
            median(both[1]),
            median(ratios),
            ratios[0],
            ratios[ratios.length - 1],
            goal));
  }

  /** A row whose figures each stand for themselves. */
  private void plain(String what, double[][] both, String goal) {
    rows.add(
        String.format(
            Locale.ROOT,
            "| %s | %.3g | %.3g | | %s |",
            what,
            median(both[0]),
            median(both[1]),
            goal));
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  private void say(String what, int round) {
    System.err.printf(
        Locale.ROOT,
        "%s: round %d, %.0f s since the start%n",
        what,
        round + 1,
        (System.nanoTime() - begun) / 1e9);
  }
}
