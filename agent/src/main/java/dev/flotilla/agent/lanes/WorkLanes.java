package dev.flotilla.agent.lanes;

import dev.flotilla.agent.lanes.LaneUpgrade.Caller;
import dev.flotilla.agent.lanes.Workers.EnginePort;
import dev.flotilla.wire.lanes.ControlMessage.LaneCount;
import dev.flotilla.wire.lanes.ControlMessage.Welcome;
import dev.flotilla.wire.lanes.LaneLine;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;

/**
 * The work lanes that this agent donates to the hub.
 *
 * <p>Life of a lane: it is dialled, waits unopened, is told OPEN once, and from then on carries
 * bytes to one engine until either side closes; it is never used again. Each has a virtual thread
 * of its own that runs through that life; while bytes flow it waits for the {@link Relay}, or, on a
 * lane of TLS, is one of the two of a {@link Tunnel}.
 *
 * <p>Lanes are dialled in spells: {@link #begin} starts one when the control lane is up, {@link
 * #pause} ends it when that is lost. A lane belongs to the spell in which it was dialled. At the
 * end of a spell its unopened lanes are closed; opened ones go on, since a request in one of them
 * does not need the control lane.
 *
 * <p>Invariants, under the lock: {@code waiting} counts the lanes of this spell that are being
 * dialled or are unopened, {@code opened} those that carry bytes, of any spell; {@code waiting +
 * opened <= lanesMax} whenever a lane is added; outside of a spell {@code waiting} is 0. Whenever a
 * lane leaves {@code waiting}, others are dialled until {@code idleLanes} wait again.
 *
 * <p>The only place that a lane can lead to is the loopback port of a launch that the supervisor
 * says is live; the hub names workers, never addresses.
 */
public final class WorkLanes implements AutoCloseable {
  private static final int WORKERS_COUNTED_MAX = 1024;
  private static final System.Logger LOG = System.getLogger(WorkLanes.class.getName());

  private static final class Counts {
    final LongAdder opened = new LongAdder();
    final LongAdder closed = new LongAdder();
    final LongAdder refused = new LongAdder();
    final LongAdder bytesIn = new LongAdder();
    final LongAdder bytesOut = new LongAdder();
  }

  private final HubDialer dialer;
  private final Workers workers;
  private final AgentLaneLimits limits;
  private final RandomGenerator random;
  private final Semaphore dials;
  private final Relay relay;

  private final ReentrantLock lock = new ReentrantLock();
  private final Set<HubConnection> unopened = new HashSet<>();
  private final Set<HubConnection> carrying = new HashSet<>();
  private final Map<String, Counts> counts = new TreeMap<>();
  private Spell spell = Spell.NONE;
  private int waiting;
  private int opened;
  private boolean closed;

  /** From one welcome of the hub to the loss of the control lane. */
  private record Spell(long number, boolean up, int idleLanes, int lanesMax, Caller caller) {
    static final Spell NONE = new Spell(0, false, 0, 0, new Caller("", 0, ""));
  }

  public WorkLanes(
      HubDialer dialer, Workers workers, AgentLaneLimits limits, RandomGenerator random) {
    this.dialer = dialer;
    this.workers = workers;
    this.limits = limits;
    this.random = random;
    this.dials = new Semaphore(limits.dialsAtOnce());
    this.relay = new Relay(limits.linger()).start();
  }

  /** The control lane is up: from now on as many lanes wait as the hub asks for. */
  void begin(Welcome welcome, Caller caller) {
    lock.lock();
    try {
      endSpell();
      int max = Math.max(1, welcome.lanesMax());
      int idle = Math.clamp(welcome.idleLanes(), 1, max);
      spell = new Spell(spell.number() + 1, !closed, idle, max, caller);
      dial(spell.idleLanes());
    } finally {
      lock.unlock();
    }
  }

  /** The control lane is lost: nothing waits for that hub any more, what runs goes on. */
  void pause() {
    lock.lock();
    try {
      endSpell();
    } finally {
      lock.unlock();
    }
  }

  /** The hub needs so many lanes more than it has now. */
  void wanted(int more) {
    lock.lock();
    try {
      dial(Math.min(more, spell.lanesMax()));
    } finally {
      lock.unlock();
    }
  }

  /** What went through, by worker, since the agent started. */
  public List<LaneCount> counts() {
    lock.lock();
    try {
      return counts.entrySet().stream()
          .map(entry -> {
            Counts c = entry.getValue();
            return new LaneCount(
                entry.getKey(),
                c.opened.sum(),
                c.closed.sum(),
                c.refused.sum(),
                c.bytesIn.sum(),
                c.bytesOut.sum());
          })
          .toList();
    } finally {
      lock.unlock();
    }
  }

  /** Lanes that are being dialled or wait unopened. */
  public int waiting() {
    lock.lock();
    try {
      return waiting;
    } finally {
      lock.unlock();
    }
  }

  /** Lanes that carry bytes. */
  public int opened() {
    lock.lock();
    try {
      return opened;
    } finally {
      lock.unlock();
    }
  }

  /** Closes every lane. */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      endSpell();
      carrying.forEach(HubConnection::close);
    } finally {
      lock.unlock();
    }
    relay.close();
  }

  /**
   * For tests.
   *
   * @throws AssertionError where an invariant does not hold
   */
  public void checkInvariants() {
    lock.lock();
    try {
      if (opened != carrying.size() || waiting < unopened.size() || (!spell.up() && waiting > 0)) {
        throw new AssertionError(
            waiting + " wait, " + unopened.size() + " of them dialled, " + opened + " carry");
      }
    } finally {
      lock.unlock();
    }
  }

  private void endSpell() {
    spell = new Spell(spell.number() + 1, false, 0, 0, Spell.NONE.caller());
    waiting = 0;
    unopened.forEach(HubConnection::close);
    unopened.clear();
  }

  /** Under the lock. */
  private void dial(int wish) {
    int count = spell.up() ? Math.min(wish, spell.lanesMax() - waiting - opened) : 0;
    Spell current = spell;
    for (int i = 0; i < count; i++) {
      waiting++;
      Thread.ofVirtual().name("work-lane").start(() -> live(current));
    }
  }

  /** One lane, from the dialling to its end. */
  private void live(Spell mine) {
    Backoff backoff = new Backoff(limits.firstPause(), limits.longestPause(), random);
    try {
      while (isCurrent(mine)) {
        HubConnection hub;
        try {
          hub = dialed(mine);
        } catch (IOException e) {
          LOG.log(System.Logger.Level.DEBUG, "A work lane was not dialled: {0}", e.getMessage());
          Thread.sleep(backoff.next());
          continue;
        }
        try (hub) {
          if (!await(mine, hub)) {
            // Closed unopened: the hub has more than it keeps, or is on its way out.
            if (stillNeeded(mine)) {
              Thread.sleep(backoff.next());
              continue;
            }
            return;
          }
        }
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private HubConnection dialed(Spell mine) throws IOException, InterruptedException {
    dials.acquire();
    try {
      HubConnection hub = dialer.dial();
      try {
        LaneUpgrade.WORK.perform(hub, dialer.address(), mine.caller());
        hub.readLimit(Duration.ZERO);
        return hub;
      } catch (IOException | RuntimeException e) {
        hub.close();
        throw e;
      }
    } finally {
      dials.release();
    }
  }

  /** Waits for OPEN and carries bytes; false where the lane was closed before it was opened. */
  private boolean await(Spell mine, HubConnection hub) {
    if (!join(mine, hub)) {
      return true;
    }
    LaneLine line;
    try {
      if (!hub.awaitByte()) {
        leaveUnopened(hub);
        return false;
      }
      hub.readLimit(limits.openLine());
      line = LaneLine.read(hub.input());
      hub.readLimit(Duration.ZERO);
    } catch (IOException e) {
      leaveUnopened(hub);
      return false;
    }
    if (!(line instanceof LaneLine.Open open)) {
      leaveUnopened(hub);
      return false;
    }
    open(mine, hub, open);
    return true;
  }

  private void open(Spell mine, HubConnection hub, LaneLine.Open open) {
    Counts worker = startCarrying(mine, hub, open.worker());
    try (SocketChannel engine = SocketChannel.open()) {
      String refusal = connect(engine.socket(), open);
      LaneLine answer = refusal.isEmpty() ? new LaneLine.Opened() : new LaneLine.Refused(refusal);
      (refusal.isEmpty() ? worker.opened : worker.refused).increment();
      hub.output().write(answer.format());
      hub.output().flush();
      if (refusal.isEmpty()) {
        try {
          carry(hub, engine, worker);
        } finally {
          worker.closed.increment();
        }
      }
    } catch (IOException e) {
      LOG.log(System.Logger.Level.DEBUG, "A lane to {0} ended: {1}", open.worker(), e.getMessage());
    } finally {
      endCarrying(hub);
    }
  }

  /** Until either side closes. TLS can't be read where a plain channel is. */
  private void carry(HubConnection hub, SocketChannel engine, Counts worker) throws IOException {
    Optional<SocketChannel> plain = hub.channel();
    if (plain.isEmpty()) {
      new Tunnel(hub, engine.socket(), limits.linger(), worker.bytesIn, worker.bytesOut).carry();
      return;
    }
    Relay.Carried lane =
        relay.lane(plain.get(), engine, hub.readAhead(), worker.bytesIn, worker.bytesOut);
    hub.onClose(lane::cut);
    lane.carry();
  }

  /** Connects to the launch's port; why not, or empty. */
  private String connect(Socket engine, LaneLine.Open open) {
    return switch (workers.port(open.worker(), open.generation())) {
      case EnginePort.None none -> none.reason();
      case EnginePort.Live live -> {
        try {
          engine.setTcpNoDelay(true);
          engine.connect(
              new InetSocketAddress(
                  InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), live.port()),
              (int) limits.engineConnect().toMillis());
          yield "";
        } catch (IOException e) {
          yield "the engine does not answer at port " + live.port() + ": " + e.getMessage();
        }
      }
    };
  }

  private boolean isCurrent(Spell mine) {
    lock.lock();
    try {
      return spell.number() == mine.number();
    } finally {
      lock.unlock();
    }
  }

  /** Whether a lane that was closed unopened is to be dialled anew; counts it out where not. */
  private boolean stillNeeded(Spell mine) {
    lock.lock();
    try {
      if (spell.number() != mine.number()) {
        return false;
      }
      if (waiting > spell.idleLanes()) {
        waiting--;
        return false;
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  private boolean join(Spell mine, HubConnection hub) {
    lock.lock();
    try {
      return spell.number() == mine.number() && unopened.add(hub);
    } finally {
      lock.unlock();
    }
  }

  private void leaveUnopened(HubConnection hub) {
    lock.lock();
    try {
      unopened.remove(hub);
    } finally {
      lock.unlock();
    }
  }

  private Counts startCarrying(Spell mine, HubConnection hub, String worker) {
    lock.lock();
    try {
      unopened.remove(hub);
      carrying.add(hub);
      opened++;
      if (spell.number() == mine.number()) {
        waiting--;
        dial(spell.idleLanes() - waiting);
      }
      if (closed) {
        hub.close();
      }
      String counted =
          counts.size() < WORKERS_COUNTED_MAX || counts.containsKey(worker) ? worker : "others";
      return counts.computeIfAbsent(counted, name -> new Counts());
    } finally {
      lock.unlock();
    }
  }

  private void endCarrying(HubConnection hub) {
    lock.lock();
    try {
      carrying.remove(hub);
      opened--;
      dial(spell.idleLanes() - waiting);
    } finally {
      lock.unlock();
    }
  }
}
