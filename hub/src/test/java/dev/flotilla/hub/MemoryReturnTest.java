package dev.flotilla.hub;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** When a hub gives its heap back. */
final class MemoryReturnTest {
  private static final long MIB = 1L << 20;

  private long now;
  private int inFlight;
  private long begun;
  private final PaperHeap heap = new PaperHeap();
  private final MemoryReturn memory =
      new MemoryReturn(() -> inFlight, () -> begun, heap, MemoryReturn.Limits.DEFAULTS, () -> now);

  @Test
  void aHubThatCarriedMuchGivesItsHeapBackOnceHalfAMinuteAfterTheLastRequest() {
    load(512);
    heap.committed = 500 * MIB;
    idle(Duration.ofSeconds(25));
    assertThat(heap.collections).isZero();

    idle(Duration.ofSeconds(10));
    assertThat(heap.collections).isEqualTo(1);

    idle(Duration.ofHours(1));
    assertThat(heap.collections).as("once for each load").isEqualTo(1);
  }

  @Test
  void nothingIsCollectedWhileARequestRuns() {
    heap.committed = 500 * MIB;
    begun++;
    inFlight = 1;
    idle(Duration.ofHours(1));
    assertThat(heap.collections).isZero();

    inFlight = 0;
    idle(Duration.ofSeconds(35));
    assertThat(heap.collections).isEqualTo(1);
  }

  @Test
  void requestsThatAreOverBeforeAnybodyLooksCountToo() {
    heap.committed = 500 * MIB;
    for (int each = 0; each < 20; each++) {
      begun++;
      idle(Duration.ofSeconds(20));
    }
    assertThat(heap.collections).isZero();
  }

  @Test
  void aHeapThatIsInUseIsLeftAlone() {
    load(8);
    heap.committed = 140 * MIB;
    heap.used = 90 * MIB;
    idle(Duration.ofMinutes(5));
    assertThat(heap.collections).isZero();
  }

  @Test
  void eachLoadThatEndsIsAnOccasion() {
    load(512);
    heap.committed = 500 * MIB;
    idle(Duration.ofSeconds(40));
    load(512);
    heap.committed = 400 * MIB;
    idle(Duration.ofSeconds(40));
    assertThat(heap.collections).isEqualTo(2);
  }

  @Test
  void theHeapOfThisProcessIsReadAndShrinks() {
    MemoryReturn.Heap here = new MemoryReturn.JvmHeap();
    here.collect();
    assertThat(here.usedAfterCollection()).isBetween(1L, here.committed());
  }

  private void load(int requests) {
    begun += requests;
    inFlight = requests;
    memory.look();
    inFlight = 0;
  }

  private void idle(Duration time) {
    long until = now + time.toNanos();
    while (now < until) {
      now += MemoryReturn.Limits.DEFAULTS.every().toNanos();
      memory.look();
    }
  }

  private static final class PaperHeap implements MemoryReturn.Heap {
    private long committed = 32 * MIB;
    private long used = 20 * MIB;
    private int collections;

    @Override
    public long committed() {
      return committed;
    }

    @Override
    public long usedAfterCollection() {
      return used;
    }

    @Override
    public void collect() {
      collections++;
      committed = used;
    }
  }
}
