package dev.flotilla.hub.gateway;

import dev.flotilla.hub.routing.Dialer;
import dev.flotilla.hub.routing.Target;
import dev.flotilla.wire.connection.Connection;
import dev.flotilla.wire.connection.Deadline;
import dev.flotilla.wire.connection.DeadlineLimits;
import dev.flotilla.wire.connection.Deadlines;
import dev.flotilla.wire.http.HttpCall;
import dev.flotilla.wire.http.HttpHeaders;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;

/**
 * Asks each backend whether it is there: {@code GET …/models} every {@link #EVERY}, with its key,
 * over a connection of its own. A backend has no agent that would tell of its death.
 *
 * <p>Any answer below 500 says that it is there, a 404 too (not every server lists its models), but
 * for 401 and 403: those refuse the hub's key, and would refuse every request. A 501 counts as an
 * answer. No connection, no answer within {@link #WITHIN}, or another answer from 500 on says that
 * it is not; silence says nothing where requests run there: it may be busy with them.
 *
 * <p>A thread looks once a second what is due; each question is asked on a thread of its own, one
 * at a time for each backend. A new backend is asked at the next look.
 */
public final class BackendProbe implements AutoCloseable {
  /** How often a backend is asked. */
  public static final Duration EVERY = Duration.ofSeconds(10);

  /** How long it may take to connect, and then to answer. */
  public static final Duration WITHIN = Duration.ofSeconds(5);

  private static final Duration LOOK = Duration.ofSeconds(1);
  private static final System.Logger LOG = System.getLogger(BackendProbe.class.getName());

  /** Whom to tell. */
  public interface Listener {
    /** An answer came; {@code trouble} says what is wrong, empty where nothing is. */
    void heard(Target backend, String trouble);
  }

  private final Supplier<List<Target>> backends;
  private final ToIntFunction<String> inFlight;
  private final Listener listener;
  private final Deadlines deadlines;
  private final LongSupplier nanoClock;
  private final Thread looker;

  /** When each backend's dialer was asked last; used by the looking thread alone. */
  private final Map<Dialer, Long> askedAt = new HashMap<>();

  private final Set<Dialer> asking = ConcurrentHashMap.newKeySet();

  /**
   * @param inFlight requests in flight of a {@link Target#ledgerKey()}
   * @param deadlines running ones
   * @param nanoClock a clock that never jumps, such as {@code System::nanoTime}
   */
  public BackendProbe(
      Supplier<List<Target>> backends,
      ToIntFunction<String> inFlight,
      Listener listener,
      Deadlines deadlines,
      LongSupplier nanoClock) {
    this.backends = backends;
    this.inFlight = inFlight;
    this.listener = listener;
    this.deadlines = deadlines;
    this.nanoClock = nanoClock;
    this.looker = Thread.ofVirtual().name("backend-probe").unstarted(this::run);
  }

  public BackendProbe start() {
    looker.start();
    return this;
  }

  @Override
  public void close() {
    looker.interrupt();
  }

  private void run() {
    while (!Thread.currentThread().isInterrupted()) {
      try {
        look();
        Thread.sleep(LOOK);
      } catch (InterruptedException _) {
        return;
      } catch (RuntimeException e) {
        LOG.log(System.Logger.Level.ERROR, "The probe of backends failed and goes on.", e);
      }
    }
  }

  private void look() {
    List<Target> all = backends.get();
    askedAt.keySet().retainAll(all.stream().map(Target::dialer).collect(Collectors.toSet()));
    long now = nanoClock.getAsLong();
    for (Target backend : all) {
      Long last = askedAt.get(backend.dialer());
      boolean due = last == null || now - last >= EVERY.toNanos();
      if (due && asking.add(backend.dialer())) {
        askedAt.put(backend.dialer(), now);
        Thread.ofVirtual().name("backend-probe-" + backend.name()).start(() -> judge(backend));
      }
    }
  }

  private void judge(Target backend) {
    try {
      ask(backend).ifPresent(trouble -> listener.heard(backend, trouble));
    } finally {
      asking.remove(backend.dialer());
    }
  }

  /** What is wrong with it, an empty text where nothing is; nothing where that can't be said. */
  Optional<String> ask(Target backend) {
    Dialer.Lease lease;
    try {
      lease = backend.dialer().dial(true, WITHIN);
    } catch (IOException unreached) {
      return Optional.of(Upstream.words(unreached));
    }
    try (Connection connection = lease.connection();
        Deadline deadline =
            deadlines.watch(connection, new DeadlineLimits(WITHIN, WITHIN, WITHIN))) {
      String key = backend.apiKey();
      HttpHeaders headers =
          key == null ? HttpHeaders.NONE : HttpHeaders.of("authorization", "Bearer " + key);
      deadline.awaitFirstByte();
      try {
        HttpCall call = HttpCall.get(backend.basePath() + "/v1/models", headers);
        return Optional.of(meaning(lease.http1(backend.host()).exchange(call).status()));
      } catch (IOException seen) {
        if (deadline.exceeded().isPresent()) {
          return inFlight.applyAsInt(backend.ledgerKey()) > 0
              ? Optional.empty()
              : Optional.of("it did not answer within " + WITHIN.toSeconds() + " s");
        }
        return Optional.of(Upstream.words(seen));
      }
    }
  }

  private static String meaning(int status) {
    if (status == 401 || status == 403) {
      return "it refuses the hub's key (HTTP " + status + ")";
    }
    return status < 500 || status == 501 ? "" : "it answers with HTTP " + status;
  }
}
