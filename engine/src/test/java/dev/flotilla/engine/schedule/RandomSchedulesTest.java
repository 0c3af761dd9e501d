package dev.flotilla.engine.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.engine.TinyRunner;
import dev.flotilla.engine.kv.BlockPool;
import dev.flotilla.engine.model.KvLayout;
import dev.flotilla.engine.model.Logits;
import dev.flotilla.engine.model.PackedStep;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Ten thousand random schedules on small pools: requests that share beginnings, come at any time,
 * have any priority, are long and short, and are given up in the middle; some want a vector. After
 * every step the invariants hold; every answer and every vector is the one that the model gives to
 * the request alone; at the end every block is free.
 */
class RandomSchedulesTest {
  private static final int SCHEDULES = 10_000;
  private static final int VOCABULARY = 40;

  @Test
  void everyScheduleGivesEveryRequestItsOwnAnswer() {
    long preempted = 0;
    long cached = 0;
    for (long seed = 0; seed < SCHEDULES; seed++) {
      Schedule schedule = new Schedule(seed);
      schedule.play();
      preempted += schedule.scheduler.preemptions();
      cached += schedule.scheduler.cachedTokens();
    }
    assertThat(preempted).as("schedules in which sequences gave way").isGreaterThan(SCHEDULES / 10);
    assertThat(cached).as("tokens that came from the cache").isGreaterThan(SCHEDULES);
  }

  private static final class Request extends Sequence {
    private final int[] prompt;
    private final int wanted;
    private final double @Nullable [] sum;
    private final boolean all;

    /** An answer of so many tokens, or a vector where none are wanted. */
    Request(BlockPool pool, int[] prompt, long root, int priority, int wanted, boolean all) {
      super(pool, prompt, root, priority);
      this.prompt = prompt;
      this.wanted = wanted;
      this.sum = wanted == 0 ? new double[TinyRunner.WIDTH] : null;
      this.all = all;
    }

    @Override
    public double @Nullable [] sum() {
      return sum;
    }

    @Override
    public boolean wantsAllRows() {
      return sum != null && all;
    }

    boolean isComplete(int lengthMax) {
      if (sum != null) {
        return pending() == 0;
      }
      return length() - promptLength() == wanted || length() == lengthMax;
    }

    int[] answer() {
      return Arrays.copyOfRange(tokens(), promptLength(), length());
    }
  }

  private static final class Schedule {
    private final long seed;
    private final Random random;
    private final BlockPool pool;
    private final TinyRunner runner;
    private final Scheduler scheduler;
    private final StepPlan plan;
    private final PackedStep step;
    private final Logits logits;
    private final List<Request> open = new ArrayList<>();
    private final int[] common;

    Schedule(long seed) {
      this.seed = seed;
      random = new Random(seed);
      int blocks = 2 + random.nextInt(14);
      int context = 20 + random.nextInt(150);
      int sequences = 1 + random.nextInt(6);
      int rows = sequences + random.nextInt(60);
      pool = new BlockPool(blocks, KvLayout.PAGE_TOKENS);
      runner = new TinyRunner(VOCABULARY, context, blocks);
      scheduler = new Scheduler(pool, new ScheduleLimits(rows, sequences, 8), context);
      plan = new StepPlan(sequences);
      step = new PackedStep(rows, sequences, blocks);
      logits = new Logits(sequences, VOCABULARY);
      common = random.ints(200, 0, VOCABULARY).toArray();
    }

    void play() {
      int arriving = 1 + random.nextInt(9);
      int idle = 0;
      for (int steps = 0; arriving > 0 || !open.isEmpty(); steps++) {
        while (arriving > 0 && (open.isEmpty() || random.nextInt(3) == 0)) {
          arriving--;
          arrive();
        }
        if (!open.isEmpty() && random.nextInt(25) == 0) {
          scheduler.end(open.remove(random.nextInt(open.size())));
        }
        step();
        // A step may give way without computing, but no two in a row do.
        idle = plan.size() == 0 ? idle + 1 : 0;
        assertThat(idle).as("seed %d stands still", seed).isLessThan(open.isEmpty() ? 99 : 2);
        assertThat(steps).as("seed %d does not end", seed).isLessThan(5_000);
      }
      assertThat(pool.free()).as("free blocks, seed %d", seed).isEqualTo(pool.blocks());
    }

    private void arrive() {
      int shared = random.nextInt(Math.min(100, scheduler.lengthMax()));
      int own = random.nextInt(1 + random.nextInt(40));
      int[] prompt = Arrays.copyOf(common, Math.max(1, shared + own));
      for (int i = shared; i < prompt.length; i++) {
        prompt[i] = random.nextInt(VOCABULARY);
      }
      boolean vector = random.nextInt(6) == 0;
      if (vector ? prompt.length > scheduler.lengthMax() : !scheduler.fits(prompt.length)) {
        return;
      }
      long root = -1L - random.nextInt(2);
      int wanted = vector ? 0 : 1 + random.nextInt(60);
      Request request =
          new Request(pool, prompt, root, random.nextInt(3), wanted, random.nextBoolean());
      if (scheduler.add(request)) {
        open.add(request);
      }
    }

    private void step() {
      scheduler.schedule(plan);
      scheduler.checkInvariants(plan);
      plan.writeTo(step);
      runner.run(step, logits);
      scheduler.ran(plan);
      int row = 0;
      for (int i = 0; i < plan.size(); i++) {
        Request request = (Request) plan.sequence(i);
        if (request.pending() == 0 && request.sum == null) {
          request.append(largest(logits.row(row)));
          row++;
        }
      }
      assertThat(row).as("rows with logits, seed %d", seed).isEqualTo(logits.rows());
      endComplete();
      scheduler.checkInvariants(plan);
    }

    private void endComplete() {
      open.removeIf(request -> {
        if (!request.isComplete(scheduler.lengthMax())) {
          return false;
        }
        scheduler.end(request);
        if (request.sum != null) {
          assertThat(request.sum)
              .as("vector, seed %d", seed)
              .isEqualTo(runner.sum(request.prompt, request.all));
          return true;
        }
        assertThat(request.answer())
            .as("answer, seed %d", seed)
            .isEqualTo(runner.answer(request.prompt, request.length() - request.promptLength()));
        return true;
      });
    }

    private static int largest(float[] row) {
      int best = 0;
      for (int token = 1; token < row.length; token++) {
        if (row[token] > row[best]) {
          best = token;
        }
      }
      return best;
    }
  }
}
