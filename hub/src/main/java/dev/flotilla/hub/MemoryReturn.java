package dev.flotilla.hub;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.time.Duration;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;

/**
 * Gives the heap back to the machine when load has ended.
 *
 * <p>A serial collector grows the old generation under load, with what is garbage by the time
 * anybody looks, and collects it only when it is full. A hub that carried hundreds of streams would
 * hold all of that for as long as it idles. So when no request has run for {@link Limits#quiet()},
 * and the heap holds far more than was in use after the last collection, it is collected once; the
 * collector then shrinks it ({@code MaxHeapFreeRatio} in {@code java.options}).
 *
 * <p>Invariants: nothing is collected while a request runs, or where one ran within the quiet time,
 * be it ever so short; once for each time that load ends.
 *
 * <p>Concurrency: one daemon thread looks every {@link Limits#every()}; {@link #look} belongs to
 * it, or to a test. Ends with {@link #close()}.
 */
final class MemoryReturn implements AutoCloseable {
  private static final Logger LOG = System.getLogger(MemoryReturn.class.getName());

  private final IntSupplier inFlight;
  private final LongSupplier begun;
  private final Heap heap;
  private final Limits limits;
  private final LongSupplier nanoClock;
  private final Thread thread = Thread.ofVirtual().name("memory-return").unstarted(this::lookOn);

  private long seen;
  private long quietSince;
  private boolean done;

  /**
   * When the heap is given back.
   *
   * @param every how often it is looked at (default 5 s)
   * @param quiet how long no request may have run before (default 30 s)
   * @param spareBytes what the heap may hold beyond what is in use, and is left alone (default 64
   *     MiB)
   */
  public record Limits(Duration every, Duration quiet, long spareBytes) {
    public static final Limits DEFAULTS =
        new Limits(Duration.ofSeconds(5), Duration.ofSeconds(30), 64L << 20);
  }

  /** The heap of this process. */
  interface Heap {
    /** Bytes that the machine has given it. */
    long committed();

    /** Bytes that were in use after the last collection of each of its parts. */
    long usedAfterCollection();

    /** Collects all of it. */
    void collect();
  }

  /**
   * @param inFlight requests that run now
   * @param begun requests that ever began to run
   */
  MemoryReturn(
      IntSupplier inFlight, LongSupplier begun, Heap heap, Limits limits, LongSupplier nanoClock) {
    this.inFlight = inFlight;
    this.begun = begun;
    this.heap = heap;
    this.limits = limits;
    this.nanoClock = nanoClock;
    this.seen = begun.getAsLong();
    this.quietSince = nanoClock.getAsLong();
    // What the start itself left is little, and a hub that nobody has asked yet starts no pause.
    this.done = true;
  }

  /** Begins to look. */
  MemoryReturn start() {
    thread.start();
    return this;
  }

  private void lookOn() {
    try {
      while (true) {
        Thread.sleep(limits.every());
        look();
      }
    } catch (InterruptedException _) {
      // Closed.
    }
  }

  /** Looks once; whether the heap was collected. */
  boolean look() {
    long now = nanoClock.getAsLong();
    long count = begun.getAsLong();
    if (inFlight.getAsInt() > 0 || count != seen) {
      seen = count;
      quietSince = now;
      done = false;
      return false;
    }
    if (done || now - quietSince < limits.quiet().toNanos()) {
      return false;
    }
    done = true;
    long committed = heap.committed();
    if (committed - heap.usedAfterCollection() <= limits.spareBytes()) {
      return false;
    }
    heap.collect();
    LOG.log(
        Level.DEBUG,
        "load has ended: the heap went from {0} to {1} MiB",
        committed >> 20,
        heap.committed() >> 20);
    return true;
  }

  @Override
  public void close() {
    thread.interrupt();
  }

  /** The heap of this JVM. */
  static final class JvmHeap implements Heap {
    @Override
    public long committed() {
      return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getCommitted();
    }

    @Override
    public long usedAfterCollection() {
      long used = 0;
      for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
        MemoryUsage after = pool.getCollectionUsage();
        if (pool.getType() == MemoryType.HEAP && after != null) {
          used += after.getUsed();
        }
      }
      return used;
    }

    @Override
    public void collect() {
      ManagementFactory.getMemoryMXBean().gc();
    }
  }
}
