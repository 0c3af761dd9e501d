package dev.flotilla.bench.load;

import dev.flotilla.bench.dataset.Prompt;
import dev.flotilla.bench.load.Connections.Lease;
import dev.flotilla.bench.measure.Generator;
import dev.flotilla.bench.measure.Load;
import dev.flotilla.bench.measure.RequestRecord;
import dev.flotilla.bench.measure.RequestRecord.Outcome.Failed;
import dev.flotilla.bench.measure.Run;
import dev.flotilla.wire.Deadlines;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * Makes the load of one run and keeps what the client saw.
 *
 * <p><b>Before the clock starts</b> all bodies are made, a connection is proved to stand, the
 * warm-ups have ended, and in a closed loop every connection stands. Nothing of that is in the
 * figures.
 *
 * <p><b>Threads.</b> Each request under way has a virtual thread that writes, reads and takes the
 * time of each read. In a <em>closed loop</em> there are as many threads as concurrency allows, and
 * each takes the next prompt when it is through with one. In an <em>open loop</em> one thread looks
 * at the schedule and starts a thread a little before each request is due, so that its connection
 * stands by then; it waits for the exact time by itself. With a limit of concurrency as well, a
 * request that is due waits for a place and only then takes a connection.
 *
 * <p><b>Coordinated omission.</b> In an open loop a record keeps when its request was due beside
 * when it was sent: a server that stalls makes the later ones late, and their latency can be
 * counted from when a user would have asked. What of such a delay was this client's own is measured
 * apart, and stands in the run's {@link Generator}, with how late a thread wakes and what processor
 * time the process took.
 *
 * <p><b>Life cycle.</b> One {@link #run}. {@link #stop()} may come from any thread, also before it:
 * every connection is closed, what was under way is recorded as cancelled, what was not yet sent
 * has no record, and the run comes back as partial.
 */
public final class LoadGenerator {
  /** How long before it is due a request of an open loop gets its thread and its connection. */
  private static final Duration AHEAD = Duration.ofMillis(20);

  /** What the bodies of a run may take of the heap together. */
  private static final int HEAP_SHARE = 3;

  private final ServerUnderTest server;
  private final RequestForm form;
  private final LoadLimits limits;
  private final boolean keepAlive;
  private final LongSupplier nanoClock;
  private final InstantSource calendar;
  private final LongSupplier cpuNanos;
  private final CountDownLatch stopped = new CountDownLatch(1);

  /** A generator on the machine's clocks. */
  public LoadGenerator(
      ServerUnderTest server, RequestForm form, LoadLimits limits, boolean keepAlive) {
    this(
        server,
        form,
        limits,
        keepAlive,
        System::nanoTime,
        InstantSource.system(),
        LoadGenerator::processCpuNanos);
  }

  /**
   * A generator.
   *
   * @param nanoClock monotonic
   * @param cpuNanos processor time that this process has taken
   */
  public LoadGenerator(
      ServerUnderTest server,
      RequestForm form,
      LoadLimits limits,
      boolean keepAlive,
      LongSupplier nanoClock,
      InstantSource calendar,
      LongSupplier cpuNanos) {
    this.server = server;
    this.form = form;
    this.limits = limits;
    this.keepAlive = keepAlive;
    this.nanoClock = nanoClock;
    this.calendar = calendar;
    this.cpuNanos = cpuNanos;
  }

  private static long processCpuNanos() {
    return ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO).toNanos();
  }

  /** Ends the run, now or as soon as it begins. */
  public void stop() {
    stopped.countDown();
  }

  private boolean isStopped() {
    return stopped.getCount() == 0;
  }

  /**
   * Sends every prompt once, in order, and returns when all have ended.
   *
   * @param load what the report says of it
   * @throws ServerUnusable if there is no connection to be had, or every warm-up failed
   * @throws IllegalArgumentException if the prompts can't be sent in this form, or do not fit the
   *     memory
   */
  public Run run(Load load, LoadPlan plan, List<Prompt> prompts, Progress progress)
      throws ServerUnusable, InterruptedException {
    List<PreparedRequest> requests = prepared(prompts);
    RandomGenerator random =
        RandomGeneratorFactory.<RandomGenerator>of("L64X128MixRandom").create(load.seed());
    long[] due = plan.arrivals().dueNanos(requests.size(), random);
    try (Deadlines deadlines = new Deadlines(nanoClock).start();
        Connections connections = new Connections(server, limits, keepAlive);
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Thread closer = Thread.ofVirtual().start(() -> closeWhenStopped(connections));
      try {
        warmUp(connections, deadlines, requests, plan);
        int standing = plan.isClosed() ? concurrency(plan, requests.size()) : 1;
        standUp(connections, threads, standing);
        Course course = new Course(requests, due, plan, connections, deadlines, progress);
        return course.run(threads, load);
      } finally {
        // Whatever still runs belongs to a run that nobody waits for any more; what waits at a
        // socket wakes and closes it.
        threads.shutdownNow();
        closer.interrupt();
      }
    }
  }

  /** Asks one prompt, outside of any run; what is wrong where its answer did not come whole. */
  public Optional<String> tryOne(Prompt prompt) {
    try (Deadlines deadlines = new Deadlines(nanoClock).start();
        Connections connections = new Connections(server, limits, false)) {
      LoadClient client =
          new LoadClient(connections, deadlines, limits, nanoClock, this::isStopped);
      PreparedRequest request =
          new PreparedRequest(0, prompt, server.post(form.path(), form.body(prompt)));
      try {
        return trouble(client.ask(connections.take(), request, -1));
      } catch (IOException e) {
        return Optional.of(Failures.words(e));
      }
    }
  }

  private static Optional<String> trouble(RequestRecord seen) {
    return seen.outcome() instanceof Failed failed
        ? Optional.of(failed.message())
        : Optional.empty();
  }

  private void closeWhenStopped(Connections connections) {
    try {
      stopped.await();
      connections.close();
    } catch (InterruptedException _) {
      // The run has ended by itself.
    }
  }

  private List<PreparedRequest> prepared(List<Prompt> prompts) {
    long bytes = 0;
    long bytesMax = Runtime.getRuntime().maxMemory() / HEAP_SHARE;
    List<PreparedRequest> requests = new ArrayList<>(prompts.size());
    for (Prompt prompt : prompts) {
      byte[] body = form.body(prompt);
      bytes += body.length;
      if (bytes > bytesMax) {
        throw new IllegalArgumentException(
            "the first %d prompts alone take %d MiB of memory; ask for fewer, or give more with FLOTILLA_JAVA_OPTS=-Xmx…"
                .formatted(requests.size() + 1, bytes >> 20));
      }
      requests.add(new PreparedRequest(requests.size(), prompt, server.post(form.path(), body)));
    }
    return requests;
  }

  private static int concurrency(LoadPlan plan, int requests) {
    return plan.maxConcurrency() == 0 ? requests : Math.min(plan.maxConcurrency(), requests);
  }

  /** Proves that there is a server, and dials the other connections that the start needs. */
  private void standUp(Connections connections, ExecutorService threads, int count)
      throws ServerUnusable, InterruptedException {
    try {
      connections.prepare();
    } catch (IOException e) {
      if (isStopped()) {
        return;
      }
      throw new ServerUnusable("can't measure " + server.base() + ": " + Failures.words(e), e);
    }
    if (!keepAlive) {
      return;
    }
    CountDownLatch dialled = new CountDownLatch(count - 1);
    for (int i = 1; i < count; i++) {
      var _ =
          threads.submit(() -> {
            try {
              connections.prepare();
            } catch (IOException _) {
              // Dialled again by the request that needs it, whose record then says what is wrong.
            } finally {
              dialled.countDown();
            }
          });
    }
    dialled.await();
  }

  private void warmUp(
      Connections connections, Deadlines deadlines, List<PreparedRequest> requests, LoadPlan plan)
      throws ServerUnusable, InterruptedException {
    if (plan.warmups() == 0 || requests.isEmpty() || isStopped()) {
      return;
    }
    List<PreparedRequest> warmups = new ArrayList<>();
    for (int i = 0; i < plan.warmups(); i++) {
      warmups.add(new PreparedRequest(i, requests.getFirst().prompt(), requests.getFirst().call()));
    }
    LoadPlan closed = LoadPlan.closed(plan.maxConcurrency());
    Course course =
        new Course(
            warmups, new long[warmups.size()], closed, connections, deadlines, new Progress());
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      course.closedLoop(threads);
    }
    List<RequestRecord> seen = course.records();
    if (!isStopped() && seen.stream().noneMatch(RequestRecord::succeeded)) {
      String why = trouble(seen.getFirst()).orElse("");
      throw new ServerUnusable(
          "can't measure " + server.base() + ": every warm-up request failed: " + why);
    }
  }

  /** The requests of one run, or of its warm-up, on their way. */
  private final class Course {
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

    Course(
        List<PreparedRequest> requests,
        long[] due,
        LoadPlan plan,
        Connections connections,
        Deadlines deadlines,
        Progress progress) {
      this.requests = requests;
      this.due = due;
      this.plan = plan;
      this.connections = connections;
      this.progress = progress;
      this.origin = nanoClock.getAsLong();
      this.records = new AtomicReferenceArray<>(requests.size());
      this.client =
          new LoadClient(
              connections, deadlines, limits, this::nanos, LoadGenerator.this::isStopped);
    }

    private long nanos() {
      return nanoClock.getAsLong() - origin;
    }

    Run run(ExecutorService threads, Load load) throws InterruptedException {
      progress.begin(requests.size());
      Instant startedAt = calendar.instant();
      long cpuBefore = cpuNanos.getAsLong();
      Thread pulse = Thread.ofVirtual().name("pulse").start(new Pulse(nanoClock, wakeLag));
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
      long cpu = cpuNanos.getAsLong() - cpuBefore;
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
        stop();
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
      int lanes = concurrency(plan, requests.size());
      CountDownLatch ended = new CountDownLatch(lanes);
      for (int i = 0; i < lanes; i++) {
        var _ =
            threads.submit(() -> {
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
        var _ =
            threads.submit(() -> {
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

    private void sendWhenDue(PreparedRequest request, Semaphore places)
        throws InterruptedException {
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
      progress.ended(record.succeeded(), record.outputTokens());
    }

    /** Waits until then; at once where that is over. Whether the run was ended meanwhile. */
    private boolean waitUntil(long at) throws InterruptedException {
      long left = at - nanos();
      return left > 0 ? stopped.await(left, TimeUnit.NANOSECONDS) : isStopped();
    }
  }
}
