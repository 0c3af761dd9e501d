package dev.flotilla.engine.speed;

import dev.flotilla.engine.kernel.Workers;
import dev.flotilla.engine.model.KvLayout;
import dev.flotilla.engine.model.KvType;
import dev.flotilla.engine.model.LoadedModel;
import dev.flotilla.engine.model.Logits;
import dev.flotilla.engine.model.ModelOutline;
import dev.flotilla.engine.model.PackedStep;
import dev.flotilla.engine.model.StepClock;
import dev.flotilla.engine.model.StepClock.Part;
import dev.flotilla.engine.model.Transformer;
import dev.flotilla.gguf.GgufHeader;
import dev.flotilla.testkit.real.SmallModel;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.LongSupplier;

/**
 * Times steps of a model, alone in its process, and says where the time goes: answers of 1 and 8
 * sequences at three depths, and prompts. Medians over steps, so that what else the machine does
 * for a moment is not in them. {@code bench/engine/run --steps} builds and runs it.
 */
final class StepSpeed {
  private static final int CHUNK = 512;

  private final Transformer runner;
  private final Logits logits;
  private final PackedStep step;
  private final LongSupplier nanos;
  private final StepClock clock;
  private final int depthMax;

  private StepSpeed(Transformer runner, int depthMax, LongSupplier nanos) {
    this.runner = runner;
    this.nanos = nanos;
    clock = new StepClock(nanos);
    this.depthMax = depthMax;
    runner.measure(clock);
    logits = new Logits(8, runner.vocabulary());
    step = new PackedStep(CHUNK, 8, runner.kvBlocks() / 8);
  }

  /** Arguments: threads, the model's file (the small one by default), seconds of each figure. */
  public static void main(String[] args) throws Exception {
    int threads = args.length > 0 ? Integer.parseInt(args[0]) : 2;
    Path file = args.length > 1 && !args[1].isEmpty() ? Path.of(args[1]) : SmallModel.gguf();
    double seconds = args.length > 2 ? Double.parseDouble(args[2]) : 2;
    String only = args.length > 3 ? args[3] : "";
    long start = System.nanoTime();
    ThreadMXBean bean = ManagementFactory.getThreadMXBean();
    LongSupplier cpu = bean::getCurrentThreadCpuTime;
    try (Workers workers = new Workers(threads);
        LoadedModel model = LoadedModel.load(ModelOutline.of(GgufHeader.read(file)), workers)) {
      int depthMax = Math.min(4096, model.contextMax() - CHUNK);
      int blocks = 8 * KvLayout.blocksFor(depthMax + CHUNK);
      try (Transformer runner = new Transformer(model, KvType.F16, blocks, CHUNK, workers)) {
        System.out.printf(
            Locale.ROOT,
            "%s, %d threads, loaded in %.2f s%n",
            runner.kernels(),
            threads,
            (System.nanoTime() - start) / 1e9);
        new StepSpeed(runner, depthMax, threads == 1 ? cpu : System::nanoTime).all(seconds, only);
      }
    }
  }

  private void all(double seconds, String only) {
    System.out.printf("%-22s %9s %9s", "", "ms", "tok/s");
    for (Part part : Part.values()) {
      System.out.printf(" %13s", part.name().toLowerCase(Locale.ROOT));
    }
    System.out.println();
    for (int depth : new int[] {0, 512, depthMax}) {
      for (int sequences : new int[] {1, 8}) {
        measure("decode", sequences, 1, depth, seconds, only);
      }
    }
    measure("prompt", 1, CHUNK, 0, seconds, only);
    measure("prompt", 1, CHUNK, depthMax, seconds, only);
  }

  private void measure(
      String what, int sequences, int rows, int depth, double seconds, String only) {
    String name = "%s %d x %d at %d".formatted(what, sequences, rows, depth);
    if (!name.contains(only)) {
      return;
    }
    long end = System.nanoTime() + (long) (seconds * 1e9);
    int counted = 0;
    Part[] parts = Part.values();
    double[][] times = new double[parts.length + 1][100_000];
    // the first third is for the compilers
    long from = System.nanoTime() + (long) (seconds * 1e9 / 3);
    for (int i = 0; System.nanoTime() < end || counted < 3; i++) {
      fill(sequences, rows, depth, i);
      clock.clear();
      long before = nanos.getAsLong();
      runner.run(step, logits);
      long now = nanos.getAsLong();
      if (System.nanoTime() >= from && counted < times[0].length) {
        times[0][counted] = now - before;
        for (int p = 0; p < parts.length; p++) {
          times[1 + p][counted] = clock.nanos(parts[p]);
        }
        counted++;
      }
    }
    double all = median(times[0], counted);
    System.out.printf(
        Locale.ROOT, "%-22s %9.3f %9.1f", name, all / 1e6, sequences * rows / (all / 1e9));
    for (int p = 0; p < parts.length; p++) {
      System.out.printf(Locale.ROOT, " %13.3f", median(times[1 + p], counted) / 1e6);
    }
    System.out.println();
  }

  private void fill(int sequences, int rows, int depth, int salt) {
    step.clear();
    int each = runner.kvBlocks() / 8;
    for (int s = 0; s < sequences; s++) {
      step.sequence(depth);
      for (int b = 0; b < KvLayout.blocksFor(depth + rows); b++) {
        step.block(s * each + b);
      }
      for (int r = 0; r < rows; r++) {
        int token = Math.floorMod((s * 31 + r + salt) * 7919, runner.vocabulary());
        step.row(token, r == rows - 1);
      }
    }
  }

  private static double median(double[] values, int count) {
    double[] sorted = Arrays.copyOf(values, count);
    Arrays.sort(sorted);
    return sorted[count / 2];
  }
}
