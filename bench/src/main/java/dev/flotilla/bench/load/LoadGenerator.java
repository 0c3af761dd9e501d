package dev.flotilla.bench.load;

import dev.flotilla.bench.dataset.Prompt;
import dev.flotilla.bench.measure.Load;
import dev.flotilla.bench.measure.RequestRecord;
import dev.flotilla.bench.measure.RequestRecord.Outcome.Failed;
import dev.flotilla.bench.measure.Run;
import dev.flotilla.wire.connection.Deadlines;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
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
  /** What the bodies of a run may take of the heap together. */
  private static final int HEAP_SHARE = 3;

  private final ServerUnderTest server;
  private final RequestForm form;
  private final LoadLimits limits;
  private final boolean keepAlive;
  private final Clocks clocks;
  private final CountDownLatch stopped = new CountDownLatch(1);

  /** A generator on the machine's clocks. */
  public LoadGenerator(
      ServerUnderTest server, RequestForm form, LoadLimits limits, boolean keepAlive) {
    this(server, form, limits, keepAlive, Clocks.SYSTEM);
  }

  /** A generator. */
  public LoadGenerator(
      ServerUnderTest server,
      RequestForm form,
      LoadLimits limits,
      boolean keepAlive,
      Clocks clocks) {
    this.server = server;
    this.form = form;
    this.limits = limits;
    this.keepAlive = keepAlive;
    this.clocks = clocks;
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
    try (Deadlines deadlines = new Deadlines(clocks.nanos()).start();
        Connections connections = new Connections(server, limits, keepAlive);
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Thread closer = Thread.ofVirtual().start(() -> closeWhenStopped(connections));
      try {
        warmUp(connections, deadlines, requests, plan);
        int standing = plan.isClosed() ? plan.together(requests.size()) : 1;
        standUp(connections, threads, standing);
        Course course = course(requests, due, plan, connections, deadlines, progress);
        return course.run(threads, load);
      } finally {
        // Whatever still runs belongs to a run that nobody waits for any more; what waits at a
        // socket wakes and closes it.
        threads.shutdownNow();
        closer.interrupt();
      }
    }
  }

  private Course course(
      List<PreparedRequest> requests,
      long[] due,
      LoadPlan plan,
      Connections connections,
      Deadlines deadlines,
      Progress progress) {
    return new Course(
        requests, due, plan, connections, deadlines, limits, clocks, stopped, progress);
  }

  /** Asks one prompt, outside of any run; what is wrong where its answer did not come whole. */
  public Optional<String> tryOne(Prompt prompt) {
    try (Deadlines deadlines = new Deadlines(clocks.nanos()).start();
        Connections connections = new Connections(server, limits, false)) {
      LoadClient client =
          new LoadClient(connections, deadlines, limits, clocks.nanos(), this::isStopped);
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
    CountDownLatch dialled = new CountDownLatch(Math.max(0, count - 1));
    for (int i = 1; i < count; i++) {
      threads.execute(() -> {
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
        course(warmups, new long[warmups.size()], closed, connections, deadlines, new Progress());
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
}
