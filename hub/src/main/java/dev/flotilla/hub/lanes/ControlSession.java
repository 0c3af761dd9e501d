package dev.flotilla.hub.lanes;

import dev.flotilla.wire.lanes.ControlCodec;
import dev.flotilla.wire.lanes.ControlMessage;
import dev.flotilla.wire.lanes.LineReader;
import io.helidon.common.concurrency.limits.Limit;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.spi.ServerConnection;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;

/**
 * One control lane, from its 101 to its end.
 *
 * <p><b>Threads.</b> The server's thread of this connection reads, line by line, and reports to the
 * {@link AgentDesk} in order. A virtual thread of its own writes from a bounded outbox, so nobody
 * who sends ever waits for a slow agent: an agent that lets the outbox fill up is cut off.
 *
 * <p><b>End.</b> Whatever ends the lane (the agent's end, a malformed line, silence of three
 * heartbeats, a full outbox, the server's stop, {@link #cut}), the reading thread is woken by the
 * closed socket and reports the end once, with the first reason given.
 */
final class ControlSession implements ServerConnection, AgentLink {
  private static final System.Logger LOG = System.getLogger(ControlSession.class.getName());
  private static final int SILENT_HEARTBEATS_MAX = 3;

  /** Ends the outbox: never sent. */
  private static final ControlMessage.FromHub LAST = new ControlMessage.LanesWanted(-1);

  private final ConnectionContext context;
  private final String node;
  private final long generation;
  private final String agentId;
  private final AgentDesk desk;
  private final WorkLanePool lanes;
  private final LongSupplier nanoTime;
  private final LaneOutput output;
  private final BlockingQueue<ControlMessage.FromHub> outbox;
  private final AtomicReference<String> end = new AtomicReference<>("");
  private volatile long heardAt;
  private volatile Duration silenceMax;

  ControlSession(
      ConnectionContext context,
      String node,
      long generation,
      String agentId,
      AgentDesk desk,
      WorkLanes lanes,
      LongSupplier nanoTime) {
    this.context = context;
    this.node = node;
    this.generation = generation;
    this.agentId = agentId;
    this.desk = desk;
    this.lanes = lanes.pool(node);
    this.nanoTime = nanoTime;
    this.output = new LaneOutput(context.dataWriter());
    this.outbox = new LinkedBlockingQueue<>(lanes.limits().outbox());
    this.heardAt = nanoTime.getAsLong();
    this.silenceMax = lanes.limits().hello();
  }

  @Override
  public String node() {
    return node;
  }

  @Override
  public void send(ControlMessage.FromHub message) {
    if (!outbox.offer(message)) {
      cut("it does not read what it is sent: " + outbox.size() + " messages wait");
    }
  }

  @Override
  public void cut(String why) {
    end.compareAndSet("", why);
    WorkLane.cutSocket(context);
  }

  /** Cuts the lane where the agent has been silent for too long. Called every second. */
  void sweep() {
    long silent = nanoTime.getAsLong() - heardAt;
    if (silent > silenceMax.toNanos()) {
      cut("nothing was heard for " + Duration.ofNanos(silent).toMillis() + " ms");
    }
  }

  /** The server's thread of this connection; returning makes the server close the socket. */
  @Override
  public void handle(Limit limit) {
    LineReader lines =
        new LineReader(new LaneInput(context.dataReader()), ControlCodec.LINE_BYTES_MAX);
    try {
      Optional<ControlMessage.Hello> hello = hello(lines);
      if (hello.isEmpty()) {
        return;
      }
      switch (desk.hello(this, agentId, hello.get())) {
        case AgentDesk.Admission.Refused refused -> refuse(refused.refusal());
        case AgentDesk.Admission.Admitted admitted -> converse(lines, admitted);
      }
    } catch (IOException e) {
      LOG.log(Level.DEBUG, () -> "control lane of " + node + " ended early: " + e.getMessage());
    } finally {
      cut("the lane was closed");
    }
  }

  private Optional<ControlMessage.Hello> hello(LineReader lines) throws IOException {
    byte[] line = lines.next();
    if (line == null) {
      return Optional.empty();
    }
    Optional<ControlMessage> first = ControlCodec.decode(line);
    if (first.isPresent() && first.get() instanceof ControlMessage.Hello hello) {
      if (hello.node().equals(node) && hello.generation() == generation) {
        return Optional.of(hello);
      }
      refuse(
          new ControlMessage.Refusal(
              "headers-differ",
              "The hello names another node or generation than the request's headers: "
                  + node
                  + ", generation "
                  + generation
                  + ".",
              false));
    } else {
      refuse(
          new ControlMessage.Refusal(
              "hello-first", "The first message of a control lane is a hello.", false));
    }
    return Optional.empty();
  }

  private void refuse(ControlMessage.Refusal refusal) throws IOException {
    output.write(ControlCodec.encode(refusal));
  }

  private void converse(LineReader lines, AgentDesk.Admission.Admitted admitted) {
    IntConsumer ask = count -> send(new ControlMessage.LanesWanted(count));
    silenceMax =
        Duration.ofMillis((long) SILENT_HEARTBEATS_MAX * admitted.welcome().heartbeatMillis());
    heardAt = nanoTime.getAsLong();
    send(admitted.welcome());
    Thread writer = Thread.ofVirtual().name("control-out-" + node).start(this::writeOutbox);
    try {
      lanes.admitted(generation, ask);
      admitted.then().run();
      readAll(lines);
    } catch (IOException e) {
      end.compareAndSet("", e.getMessage() == null ? "the lane was torn" : e.getMessage());
    } finally {
      end.compareAndSet("", "the agent closed it");
      lanes.torn(ask);
      desk.ended(this, end.get());
      if (!outbox.offer(LAST)) {
        writer.interrupt();
      }
    }
  }

  private void readAll(LineReader lines) throws IOException {
    for (byte[] line; (line = lines.next()) != null; ) {
      heardAt = nanoTime.getAsLong();
      Optional<ControlMessage> message = ControlCodec.decode(line);
      if (message.isEmpty()) {
        continue; // A kind that only a newer agent knows.
      }
      if (!(message.get() instanceof ControlMessage.FromAgent said)) {
        throw new IOException("it sent what only a hub sends: a " + kind(message.get()));
      }
      desk.said(this, said);
      if (said instanceof ControlMessage.Heartbeat) {
        send(new ControlMessage.LanesWanted(0)); // The hub's own sign of life.
      }
    }
  }

  private static String kind(ControlMessage message) {
    return message.getClass().getSimpleName();
  }

  private void writeOutbox() {
    try {
      ControlMessage.FromHub message = outbox.take();
      while (!message.equals(LAST)) {
        output.write(ControlCodec.encode(message));
        message = outbox.take();
      }
    } catch (IOException | IllegalArgumentException e) {
      cut("it could not be written to: " + e.getMessage());
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt(); // The lane is over and its outbox was full.
    }
  }

  /** The server stops. */
  @Override
  public void close(boolean interrupt) {
    cut("the hub stops");
  }

  /** Silence is watched here, not by the server. */
  @Override
  public Duration idleTime() {
    return Duration.ZERO;
  }
}
