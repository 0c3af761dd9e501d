package dev.flotilla.bench.load;

import dev.flotilla.bench.load.Connections.Lease;
import dev.flotilla.bench.measure.Generator;
import dev.flotilla.bench.measure.Load;
import dev.flotilla.bench.measure.RequestRecord;
import dev.flotilla.bench.measure.Run;
import dev.flotilla.wire.connection.Deadlines;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The requests of one run, or of its warm-up, on their way: the threads that {@link LoadGenerator}
 * describes, and the records that they leave, each written once by the thread of its request.
 */
final class Course {
  /** How long before it is due a request of an open loop gets its thread and its connection. */
  private static final Duration AHEAD = Duration.ofMillis(20);

  private final Clocks clocks;
  private final CountDownLatch stopped;
  private final List<PreparedRequest> requests;
  private final long[] due;
  private final LoadPlan plan;
  private final Connections connections;
  private final Progress progress;
  private final LoadClient client;
  private final long origin;
  private final AtomicReferenceArray<RequestRecord> records;
  private final LagHistogram sendLag = new LagHistogram();
  private final LagHistogram wakeLag = new LagHistogram();

  /**
   * @param due when each request is to be sent, nanoseconds from now
   * @param stopped at zero as soon as the run is to end
   */
  Course(
      List<PreparedRequest> requests,
      long[] due,
      LoadPlan plan,
      Connections connections,
      Deadlines deadlines,
      LoadLimits limits,
      Clocks clocks,
      CountDownLatch stopped,
      Progress progress) {
    this.clocks = clocks;
    this.stopped = stopped;
    this.requests = requests;
    this.due = due;
    this.plan = plan;
    this.connections = connections;
    this.progress = progress;
    this.origin = clocks.nanos().getAsLong();
    this.records = new AtomicReferenceArray<>(requests.size());
    this.client = new LoadClient(connections, deadlines, limits, this::nanos, this::isStopped);
  }

  private long nanos() {
    return clocks.nanos().getAsLong() - origin;
  }

  private boolean isStopped() {
    return stopped.getCount() == 0;
  }

  Run run(ExecutorService threads, Load load) throws InterruptedException {
    progress.begin(requests.size());
    Instant startedAt = clocks.calendar().instant();
    long cpuBefore = clocks.cpuNanos().getAsLong();
    Thread pulse = Thread.ofVirtual().name("pulse").start(new Pulse(clocks.nanos(), wakeLag));
    plan.timeLimit().ifPresent(limit -> threads.execute(() -> stopAfter(limit)));
    try {
      if (plan.isClosed()) {
        closedLoop(threads);
      } else {
        openLoop(threads);
      }
    } finally {
      pulse.interrupt();
    }
    long cpu = clocks.cpuNanos().getAsLong() - cpuBefore;
    List<RequestRecord> seen = records();
    Generator generator =
        new Generator(
            cpu,
            Runtime.getRuntime().availableProcessors(),
            wakeLag.percentile(0.99),
            wakeLag.max(),
            sendLag.percentile(0.99),
            sendLag.max());
    return new Run(load, startedAt, duration(seen), seen, isStopped(), generator);
  }

  private void stopAfter(Duration limit) {
    try {
      Thread.sleep(limit);
      stopped.countDown();
    } catch (InterruptedException _) {
      // All requests had ended before.
    }
  }

  private static long duration(List<RequestRecord> seen) {
    long begin = seen.stream().mapToLong(RequestRecord::sentNanos).min().orElse(0);
    return seen.stream().mapToLong(RequestRecord::endNanos).max().orElse(begin) - begin;
  }

  List<RequestRecord> records() {
    List<RequestRecord> seen = new ArrayList<>(records.length());
    for (int i = 0; i < records.length(); i++) {
      if (records.get(i) != null) {
        seen.add(records.get(i));
      }
    }
    return seen;
  }

  void closedLoop(ExecutorService threads) throws InterruptedException {
    AtomicInteger next = new AtomicInteger();
    int lanes = plan.together(requests.size());
    CountDownLatch ended = new CountDownLatch(lanes);
    for (int i = 0; i < lanes; i++) {
      threads.execute(() -> {
        try {
          while (!isStopped()) {
            int index = next.getAndIncrement();
            if (index >= requests.size()) {
              break;
            }
            send(requests.get(index), -1);
          }
        } finally {
          ended.countDown();
        }
      });
    }
    ended.await();
  }

  private void openLoop(ExecutorService threads) throws InterruptedException {
    Semaphore places =
        new Semaphore(plan.maxConcurrency() == 0 ? Integer.MAX_VALUE : plan.maxConcurrency());
    CountDownLatch ended = new CountDownLatch(requests.size());
    for (PreparedRequest request : requests) {
      if (waitUntil(due[request.index()] - AHEAD.toNanos())) {
        ended.countDown();
        continue;
      }
      threads.execute(() -> {
        try {
          sendWhenDue(request, places);
        } catch (InterruptedException _) {
          Thread.currentThread().interrupt();
        } finally {
          ended.countDown();
        }
      });
    }
    ended.await();
  }

  private void sendWhenDue(PreparedRequest request, Semaphore places) throws InterruptedException {
    long at = due[request.index()];
    if (plan.maxConcurrency() == 0) {
      sendAt(request, at);
      return;
    }
    if (waitUntil(at)) {
      return;
    }
    places.acquire();
    try {
      if (!isStopped()) {
        long free = Math.max(at, nanos());
        progress.sendsOne();
        keep(request, taken(request, at, free));
      }
    } finally {
      places.release();
    }
  }

  /** With the connection in hand before it is due. */
  private void sendAt(PreparedRequest request, long at) throws InterruptedException {
    Lease lease;
    try {
      lease = connections.take();
    } catch (IOException e) {
      if (!waitUntil(at)) {
        progress.sendsOne();
        keep(request, client.unconnected(request, at, e));
      }
      return;
    }
    if (waitUntil(at)) {
      connections.end(lease.http());
      return;
    }
    sendLag.add(nanos() - at);
    progress.sendsOne();
    keep(request, client.ask(lease, request, at));
  }

  private RequestRecord taken(PreparedRequest request, long at, long free) {
    try {
      Lease lease = connections.take();
      sendLag.add(nanos() - free);
      return client.ask(lease, request, at);
    } catch (IOException e) {
      return client.unconnected(request, at, e);
    }
  }

  private void send(PreparedRequest request, long at) {
    progress.sendsOne();
    try {
      keep(request, client.ask(connections.take(), request, at));
    } catch (IOException e) {
      keep(request, client.unconnected(request, at, e));
    }
  }

  private void keep(PreparedRequest request, RequestRecord record) {
    records.set(request.index(), Objects.requireNonNull(record));
    progress.ended(record.succeeded() || record.cut(), record.outputTokens());
  }

  /** Waits until then; at once where that is over. Whether the run was ended meanwhile. */
  private boolean waitUntil(long at) throws InterruptedException {
    long left = at - nanos();
    return left > 0 ? stopped.await(left, TimeUnit.NANOSECONDS) : isStopped();
  }
}
