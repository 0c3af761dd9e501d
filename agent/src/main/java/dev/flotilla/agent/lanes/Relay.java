package dev.flotilla.agent.lanes;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.HashSet;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Carries the bytes of all opened lanes that are plain sockets, both ways, on one thread.
 *
 * <p>It does for many lanes what a {@link Tunnel} does for one. A thread that waits in a read costs
 * more than what it waits for: a failed read, a registration, two switches of threads, for each of
 * the two halves of each exchange. Here a channel is registered once and read when there is
 * something to read. A lane of TLS has no such channel and keeps its tunnel.
 *
 * <p><b>The ends.</b> The hub's end of a lane is felt by the engine at once: both channels are
 * closed. The engine's end is told to the hub after the last byte, and the lane stays open for
 * {@code linger} while what the hub still sends is thrown away, as it is when the engine takes no
 * more: closing a socket with unread bytes would make the kernel discard a reply that is on its
 * way, such as an early 413.
 *
 * <p><b>Back-pressure.</b> What one side does not take is kept, at most one buffer a direction, and
 * nothing more is read for it until it was taken. A lane without such bytes holds no memory here.
 *
 * <p><b>Concurrency.</b> {@link Carried#carry} is called on a lane's own thread and parks there
 * until the lane has ended; everything else of a lane belongs to the relay's thread. Other threads
 * end a lane by {@link Carried#cut}, which the relay's thread finds in a queue.
 */
final class Relay implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(Relay.class.getName());
  private static final int BUFFER_BYTES = 64 << 10;
  private static final long FOR_EVER = 0;

  private final Selector selector;
  private final Duration linger;
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
  private final Queue<Carried> news = new ConcurrentLinkedQueue<>();
  private final Set<Carried> all = new HashSet<>();
  private final Set<Carried> lingering = new HashSet<>();
  private volatile boolean closed;

  Relay(Duration linger) {
    this.linger = linger;
    try {
      this.selector = Selector.open();
    } catch (IOException e) {
      throw new UncheckedIOException("the lanes' relay can't be made", e);
    }
  }

  Relay start() {
    Thread.ofPlatform().daemon().name("lane-relay").start(this::run);
    return this;
  }

  /**
   * A lane to be carried.
   *
   * @param early what the hub sent already, and nobody read
   */
  Carried lane(
      SocketChannel hub,
      SocketChannel engine,
      byte[] early,
      LongAdder bytesIn,
      LongAdder bytesOut) {
    return new Carried(hub, engine, early, bytesIn, bytesOut);
  }

  /** One end of a lane: a channel, and what waits to be written to it. */
  private static final class End {
    final Carried lane;
    final SocketChannel channel;
    final LongAdder taken;
    @Nullable SelectionKey key;
    @Nullable ByteBuffer pending;

    End(Carried lane, SocketChannel channel, LongAdder taken) {
      this.lane = lane;
      this.channel = channel;
      this.taken = taken;
    }

    void interest(int ops, boolean wanted) {
      SelectionKey current = key;
      if (current != null && current.isValid()) {
        int now = current.interestOps();
        current.interestOps(wanted ? now | ops : now & ~ops);
      }
    }
  }

  /** A lane with its engine, from OPENED to the end. */
  final class Carried {
    private final End hub;
    private final End engine;
    private final byte[] early;
    private final CountDownLatch over = new CountDownLatch(1);
    private volatile boolean cut;
    private boolean engineTakes = true;
    private boolean engineEnded;
    private long closeAt;

    Carried(
        SocketChannel hub,
        SocketChannel engine,
        byte[] early,
        LongAdder bytesIn,
        LongAdder bytesOut) {
      this.hub = new End(this, hub, bytesOut);
      this.engine = new End(this, engine, bytesIn);
      this.early = early;
    }

    /** Carries until the end; both channels are closed then. */
    void carry() throws IOException {
      hub.channel.configureBlocking(false);
      engine.channel.configureBlocking(false);
      tell();
      try {
        over.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        cut();
      }
    }

    /** Ends the lane, from any thread. */
    void cut() {
      cut = true;
      tell();
    }

    private void tell() {
      news.add(this);
      selector.wakeup();
      if (closed) {
        end();
      }
    }

    private void begin() throws IOException {
      all.add(this);
      hub.key = hub.channel.register(selector, SelectionKey.OP_READ, hub);
      engine.key = engine.channel.register(selector, SelectionKey.OP_READ, engine);
      if (early.length > 0) {
        forward(ByteBuffer.wrap(early), hub, engine);
      }
    }

    private void end() {
      all.remove(this);
      lingering.remove(this);
      close(engine.channel);
      close(hub.channel);
      over.countDown();
    }
  }

  private void run() {
    try {
      while (!closed) {
        selector.select(this::ready, pauseMillis());
        for (Carried lane; (lane = news.poll()) != null; ) {
          heard(lane);
        }
        endLingering();
      }
    } catch (IOException | RuntimeException e) {
      LOG.log(System.Logger.Level.ERROR, "The lanes' relay failed; its lanes are closed", e);
    } finally {
      closed = true;
      Set.copyOf(all).forEach(Carried::end);
      for (Carried lane; (lane = news.poll()) != null; ) {
        lane.end();
      }
      close(selector);
    }
  }

  private void heard(Carried lane) {
    try {
      if (lane.cut) {
        lane.end();
      } else if (lane.hub.key == null) {
        lane.begin();
      }
    } catch (IOException | CancelledKeyException e) {
      lane.end();
    }
  }

  private void ready(SelectionKey key) {
    End end = (End) key.attachment();
    Carried lane = end.lane;
    try {
      if (key.isValid() && key.isWritable()) {
        flush(end);
      }
      if (key.isValid() && key.isReadable()) {
        read(end);
      }
    } catch (IOException | CancelledKeyException e) {
      // Another thread may close the hub's channel at any time.
      LOG.log(System.Logger.Level.TRACE, "A lane ended: {0}", e.getMessage());
      lane.end();
    }
  }

  /** Reads what is there, once, so that no lane keeps the others waiting. */
  private void read(End from) throws IOException {
    Carried lane = from.lane;
    End to = from == lane.hub ? lane.engine : lane.hub;
    buffer.clear();
    if (from.channel.read(buffer) < 0) {
      if (from == lane.hub) {
        lane.end();
      } else {
        engineEnded(lane);
      }
      return;
    }
    forward(buffer.flip(), from, to);
  }

  private void forward(ByteBuffer bytes, End from, End to) throws IOException {
    write(bytes, to);
    if (bytes.hasRemaining()) {
      to.pending = ByteBuffer.allocate(bytes.remaining()).put(bytes).flip();
      from.interest(SelectionKey.OP_READ, false);
      to.interest(SelectionKey.OP_WRITE, true);
    }
  }

  private void flush(End to) throws IOException {
    Carried lane = to.lane;
    ByteBuffer pending = to.pending;
    if (pending == null) {
      return;
    }
    write(pending, to);
    if (pending.hasRemaining()) {
      return;
    }
    to.pending = null;
    to.interest(SelectionKey.OP_WRITE, false);
    if (to == lane.engine) {
      lane.hub.interest(SelectionKey.OP_READ, true);
    } else if (lane.engineEnded) {
      lastByteIsOut(lane);
    } else {
      lane.engine.interest(SelectionKey.OP_READ, true);
    }
  }

  /** Writes what the channel takes; everything where it is an engine that takes nothing more. */
  private static void write(ByteBuffer bytes, End to) throws IOException {
    Carried lane = to.lane;
    if (to == lane.engine && !lane.engineTakes) {
      bytes.position(bytes.limit());
      return;
    }
    try {
      to.taken.add(to.channel.write(bytes));
    } catch (IOException e) {
      if (to != lane.engine) {
        throw e;
      }
      // Its last words may still be on their way to the hub.
      lane.engineTakes = false;
      bytes.position(bytes.limit());
    }
  }

  private void engineEnded(Carried lane) throws IOException {
    lane.engineEnded = true;
    lane.engine.interest(SelectionKey.OP_READ, false);
    if (lane.hub.pending == null) {
      lastByteIsOut(lane);
    }
  }

  private void lastByteIsOut(Carried lane) throws IOException {
    lane.hub.channel.shutdownOutput();
    lane.closeAt = System.nanoTime() + linger.toNanos();
    lingering.add(lane);
  }

  private void endLingering() {
    if (!lingering.isEmpty()) {
      long now = System.nanoTime();
      for (Carried lane : Set.copyOf(lingering)) {
        if (now - lane.closeAt >= 0) {
          lane.end();
        }
      }
    }
  }

  private long pauseMillis() {
    return lingering.isEmpty() ? FOR_EVER : Math.max(1, linger.toMillis() / 10);
  }

  private static void close(AutoCloseable channel) {
    try {
      channel.close();
    } catch (Exception e) {
      LOG.log(System.Logger.Level.DEBUG, "A channel did not close: {0}", e.getMessage());
    }
  }

  /** Ends every lane. */
  @Override
  public void close() {
    closed = true;
    selector.wakeup();
  }
}
