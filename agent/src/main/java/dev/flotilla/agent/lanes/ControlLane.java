package dev.flotilla.agent.lanes;

import dev.flotilla.agent.lanes.LaneUpgrade.Caller;
import dev.flotilla.wire.fleet.NodeFacts;
import dev.flotilla.wire.lanes.ControlCodec;
import dev.flotilla.wire.lanes.ControlMessage;
import dev.flotilla.wire.lanes.ControlMessage.Desired;
import dev.flotilla.wire.lanes.ControlMessage.FromAgent;
import dev.flotilla.wire.lanes.ControlMessage.Goodbye;
import dev.flotilla.wire.lanes.ControlMessage.Heartbeat;
import dev.flotilla.wire.lanes.ControlMessage.Hello;
import dev.flotilla.wire.lanes.ControlMessage.LanesWanted;
import dev.flotilla.wire.lanes.ControlMessage.Refusal;
import dev.flotilla.wire.lanes.ControlMessage.RestartWorker;
import dev.flotilla.wire.lanes.ControlMessage.UpdateNow;
import dev.flotilla.wire.lanes.ControlMessage.UpdateOffered;
import dev.flotilla.wire.lanes.ControlMessage.Welcome;
import dev.flotilla.wire.lanes.LaneMalformed;
import dev.flotilla.wire.lanes.LineReader;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The agent's control lane: keeps one up for as long as the agent lives.
 *
 * <p>One virtual thread goes through sessions. A session is: enrol where there is no credential
 * yet, dial, upgrade, say hello, hear the welcome, and then read what the hub wants until the lane
 * breaks. A second thread writes for that session: what waits in the {@link Outbox}, and a
 * heartbeat when one is due. The hub answers every heartbeat, so three heartbeats of silence mean
 * that it is gone, also where no packet says so. After a session comes a pause that grows with the
 * failures in a row, with jitter, and then the next one, for ever.
 *
 * <p>It is over, with an {@link AgentEnd}, only where no further try can help without a person: the
 * token is no good, the name is another agent's, a newer run of this agent took over, or somebody
 * called {@link #close}.
 *
 * <p>Invariants: at most one session and one writer at a time; the work lanes are in a spell only
 * between a welcome and the end of its session; a worker's change is either in the hello of a
 * session or sent after it.
 */
public final class ControlLane implements AutoCloseable {

  /** What a person may want to know of the lane. */
  public interface Listener {

    /** The hub took the agent in. */
    void connected(String hubId);

    /**
     * There is no hub at the moment; said once for each reason.
     *
     * @param why one sentence
     */
    void disconnected(String why);
  }

  /**
   * Who this agent is.
   *
   * @param token for the enrolment, a secret; empty where the agent is enrolled already
   */
  public record Self(String node, Optional<String> token, String version, AgentIdentity identity) {
    @Override
    public String toString() {
      return "Self[" + node + ", " + identity + "]";
    }
  }

  private sealed interface Session {

    /**
     * @param lasted whether the hub had taken the agent in
     */
    record Lost(String why, boolean lasted) implements Session {}

    record Over(AgentEnd end) implements Session {}
  }

  private static final System.Logger LOG = System.getLogger(ControlLane.class.getName());
  private static final int SILENT_HEARTBEATS = 3;

  private final Self self;
  private final HubDialer dialer;
  private final Supplier<NodeFacts> facts;
  private final Workers workers;
  private final WorkLanes workLanes;
  private final UpdateDesk updates;
  private final Outbox outbox;
  private final AgentLaneLimits limits;
  private final Listener listener;
  private final Backoff backoff;
  private final CompletableFuture<AgentEnd> ended = new CompletableFuture<>();
  private final CountDownLatch goodbyeSaid = new CountDownLatch(1);
  private final Thread thread;
  private volatile boolean closing;
  private volatile boolean up;
  private volatile @Nullable HubConnection current;
  private String lastTrouble = "";

  /**
   * @param facts asked for every hello and heartbeat; cheap
   */
  public ControlLane(
      Self self,
      HubDialer dialer,
      Supplier<NodeFacts> facts,
      Workers workers,
      WorkLanes workLanes,
      UpdateDesk updates,
      Outbox outbox,
      AgentLaneLimits limits,
      Listener listener,
      RandomGenerator random) {
    this.self = self;
    this.dialer = dialer;
    this.facts = facts;
    this.workers = workers;
    this.workLanes = workLanes;
    this.updates = updates;
    this.outbox = outbox;
    this.limits = limits;
    this.listener = listener;
    this.backoff = new Backoff(limits.firstPause(), limits.longestPause(), random);
    this.thread = Thread.ofVirtual().name("control-lane").unstarted(this::run);
  }

  public void start() {
    thread.start();
  }

  /** Completes when the agent can't or shall not go on. */
  public CompletableFuture<AgentEnd> ended() {
    return ended.copy();
  }

  /** Whether the hub has this agent at the moment. */
  public boolean isUp() {
    return up;
  }

  /** Says goodbye where there is a hub to hear it, and ends. */
  public void close(String reason) {
    if (up && !closing) {
      outbox.goodbye(new Goodbye(reason));
      try {
        if (!goodbyeSaid.await(limits.goodbye().toMillis(), TimeUnit.MILLISECONDS)) {
          LOG.log(System.Logger.Level.DEBUG, "The hub did not take the goodbye in time");
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    closing = true;
    thread.interrupt();
    HubConnection hub = current;
    if (hub != null) {
      hub.close();
    }
    awaitEnd();
    ended.complete(new AgentEnd("closed", reason));
  }

  /** After it nothing is written to the home any more, so that its lock may be released. */
  private void awaitEnd() {
    if (thread.getState() == Thread.State.NEW || thread == Thread.currentThread()) {
      return;
    }
    try {
      if (!thread.join(limits.goodbye())) {
        LOG.log(System.Logger.Level.WARNING, "The control lane''s thread did not end in time");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    close("The agent ends.");
  }

  private void run() {
    try {
      while (!closing) {
        switch (session()) {
          case Session.Over over -> {
            ended.complete(over.end());
            return;
          }
          case Session.Lost lost -> {
            if (lost.lasted()) {
              backoff.reset();
            }
            trouble(lost.why());
            Thread.sleep(backoff.next());
          }
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      LOG.log(System.Logger.Level.ERROR, "The control lane failed", e);
      ended.complete(new AgentEnd("internal", "The agent failed: " + e));
    } finally {
      workLanes.pause();
    }
  }

  private void trouble(String why) {
    if (!closing && !why.equals(lastTrouble)) {
      lastTrouble = why;
      LOG.log(System.Logger.Level.INFO, "No hub: {0}; trying again", why);
      listener.disconnected(why);
    }
  }

  private Session session() {
    try {
      Optional<String> credential = self.identity().credential();
      if (credential.isEmpty()) {
        Optional<Session> without = enrol();
        if (without.isPresent()) {
          return without.get();
        }
        credential = self.identity().credential();
      }
      Caller caller =
          new Caller(self.node(), self.identity().generation(), credential.orElseThrow());
      try (HubConnection hub = dialer.dial()) {
        current = hub;
        if (closing) {
          return new Session.Lost("the agent ends", false);
        }
        LaneUpgrade.CONTROL.perform(hub, dialer.address(), caller);
        return converse(hub, caller);
      } finally {
        current = null;
      }
    } catch (LaneUpgrade.Refused e) {
      return refused(e);
    } catch (LaneMalformed e) {
      return new Session.Lost(
          "the hub sent what no control lane carries: " + e.getMessage(), false);
    } catch (IOException e) {
      return new Session.Lost(dialer.explain(e), false);
    }
  }

  /** Empty where the agent has a credential now. */
  private Optional<Session> enrol() throws IOException {
    if (self.token().isEmpty()) {
      return Optional.of(new Session.Over(AgentEnd.NOT_ENROLLED));
    }
    Enrolment.Result result =
        new Enrolment(dialer).enrol(self.token().get(), self.node(), self.identity().agentId());
    return switch (result) {
      case Enrolment.Result.Enrolled enrolled -> {
        self.identity().keepCredential(self.node(), enrolled.credential());
        LOG.log(System.Logger.Level.INFO, "Enrolled as {0}", self.node());
        yield Optional.empty();
      }
      case Enrolment.Result.Over over -> Optional.of(new Session.Over(over.end()));
      case Enrolment.Result.Later later -> Optional.of(new Session.Lost(later.why(), false));
    };
  }

  private Session refused(LaneUpgrade.Refused refusal) {
    String said = String.valueOf(refusal.getMessage());
    return switch (refusal.status()) {
      case 401, 403 -> self.token().isPresent() ? enrolAnew() : unknown(said);
      case 409 -> new Session.Over(new AgentEnd("name-taken", said));
      default ->
          new Session.Lost("the hub answers with HTTP " + refusal.status() + ": " + said, false);
    };
  }

  private static Session unknown(String said) {
    return new Session.Over(
        new AgentEnd(
            "bad-credential",
            Enrolment.withRemedy(
                said.startsWith("HTTP ")
                    ? "The hub does not know this agent (" + said + ")."
                    : said)));
  }

  /**
   * A hub that lost its state, or another hub, takes the token again, or says what is wrong. The
   * old credential stays until there is a new one: a hub may err once.
   */
  private Session enrolAnew() {
    try {
      return enrol()
          .orElse(new Session.Lost("the hub did not know this agent; it is enrolled anew", false));
    } catch (IOException e) {
      return new Session.Lost(dialer.explain(e), false);
    }
  }

  private Session converse(HubConnection hub, Caller caller) throws IOException {
    outbox.forgetWorkers();
    say(
        hub,
        new Hello(
            self.node(),
            self.identity().agentId(),
            self.identity().generation(),
            self.version(),
            facts.get(),
            workers.reports()));
    LineReader lines = new LineReader(hub.input(), ControlCodec.LINE_BYTES_MAX);
    Optional<ControlMessage> first = hear(lines);
    if (first.isEmpty()) {
      return new Session.Lost("the hub closed the lane after the hello", false);
    }
    return switch (first.get()) {
      case Welcome welcome -> welcomed(hub, lines, welcome, caller);
      case Refusal refusal -> over(refusal);
      default -> new Session.Lost("the hub answered the hello with something else", false);
    };
  }

  private static Session over(Refusal refusal) {
    return refusal.retry()
        ? new Session.Lost(refusal.reason(), false)
        : new Session.Over(new AgentEnd(refusal.code(), refusal.reason()));
  }

  private Session welcomed(HubConnection hub, LineReader lines, Welcome welcome, Caller caller)
      throws IOException {
    int heartbeatMillis = Math.clamp(welcome.heartbeatMillis(), 50, 60_000);
    Duration silence = Duration.ofMillis((long) SILENT_HEARTBEATS * heartbeatMillis);
    hub.readLimit(silence);
    up = true;
    lastTrouble = "";
    listener.connected(welcome.hubId());
    updates.welcomed();
    workLanes.begin(welcome, caller);
    ControlWriter out = new ControlWriter(hub, outbox, this::heartbeat, heartbeatMillis);
    Thread writer =
        Thread.ofVirtual().name("control-lane-out").start(() -> out.write(goodbyeSaid::countDown));
    try {
      return obey(lines);
    } catch (SocketTimeoutException e) {
      return new Session.Lost("the hub was silent for " + silence.toMillis() + " ms", true);
    } catch (IOException e) {
      return new Session.Lost(dialer.explain(e), true);
    } finally {
      up = false;
      updates.parted();
      workLanes.pause();
      hub.close();
      writer.interrupt();
      join(writer);
    }
  }

  /** Does what the hub says until the lane ends. */
  private Session obey(LineReader lines) throws IOException {
    while (true) {
      byte[] line = lines.next();
      if (line == null) {
        return new Session.Lost("the hub closed the control lane", true);
      }
      Optional<ControlMessage> message = ControlCodec.decode(line);
      if (message.isEmpty()) {
        continue;
      }
      switch (message.get()) {
        case Desired desired -> workers.desired(desired);
        case RestartWorker restart -> workers.restart(restart.id());
        case LanesWanted wanted -> workLanes.wanted(wanted.count());
        case UpdateOffered offer -> updates.offered(offer);
        case UpdateNow now -> updates.now(now.version());
        case Refusal refusal -> {
          return over(refusal);
        }
        default ->
            LOG.log(System.Logger.Level.DEBUG, "The hub said out of turn: {0}", message.get());
      }
    }
  }

  private Heartbeat heartbeat() {
    return new Heartbeat(facts.get(), workers.reports(), workLanes.counts());
  }

  private static void say(HubConnection hub, FromAgent message) throws IOException {
    hub.output().write(ControlWriter.encode(message));
    hub.output().flush();
  }

  /** The next message of a kind that is known here; empty at the end of the lane. */
  private static Optional<ControlMessage> hear(LineReader lines) throws IOException {
    while (true) {
      byte[] line = lines.next();
      if (line == null) {
        return Optional.empty();
      }
      Optional<ControlMessage> message = ControlCodec.decode(line);
      if (message.isPresent()) {
        return message;
      }
    }
  }

  private static void join(Thread thread) {
    boolean interrupted = false;
    while (true) {
      try {
        thread.join();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
