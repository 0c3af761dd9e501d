package dev.flotilla.hub.lanes;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.flotilla.hub.fleet.Fleets;
import dev.flotilla.wire.fleet.NodeFacts;
import dev.flotilla.wire.fleet.WorkerReport;
import dev.flotilla.wire.lanes.ControlCodec;
import dev.flotilla.wire.lanes.ControlMessage;
import dev.flotilla.wire.lanes.LaneLine;
import dev.flotilla.wire.lanes.LineReader;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The agent's end of the lanes, as the protocol page has it and no more: dials, says what it is
 * told to, tunnels work lanes to loopback ports, dials another lane for each that is opened and as
 * many as it is asked for.
 */
public final class TestAgent implements AutoCloseable {
  private static final Duration BEAT = Duration.ofSeconds(1);

  final String node;
  final List<ControlMessage> told = new CopyOnWriteArrayList<>();

  /** Where each worker listens; one that is missing is refused. */
  final Map<String, Integer> ports = new ConcurrentHashMap<>();

  final AtomicInteger dialled = new AtomicInteger();
  final AtomicInteger opened = new AtomicInteger();
  volatile boolean replenishes = true;
  volatile boolean answersOpen = true;
  volatile boolean controlEnded;
  private volatile long freeGib = 16;

  private final int hubPort;
  private final String host;
  private final long generation;
  private final String credential;
  final Set<Socket> engineSockets = ConcurrentHashMap.newKeySet();
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final Map<String, WorkerReport> reports = new ConcurrentHashMap<>();
  private final Socket control;
  private volatile boolean killed;

  TestAgent(int hubPort, String node, long generation) {
    this(hubPort, node, generation, "id-of-" + node);
  }

  TestAgent(int hubPort, String node, long generation, String agentId) {
    this(hubPort, node, generation, agentId, LaneHub.credential(node));
  }

  public TestAgent(int hubPort, String node, long generation, String agentId, String credential) {
    this(hubPort, node, node, generation, agentId, credential);
  }

  /** One on a machine of that name, which other agents may be on, too. */
  public TestAgent(
      int hubPort, String node, String host, long generation, String agentId, String credential) {
    this.host = host;
    this.credential = credential;
    this.hubPort = hubPort;
    this.node = node;
    this.generation = generation;
    try {
      control = dial("control", credential);
      say(new ControlMessage.Hello(node, agentId, generation, "0.1", machine(), List.of()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Thread.ofVirtual().start(this::listen);
  }

  void say(ControlMessage.FromAgent message) {
    try {
      OutputStream out = control.getOutputStream();
      synchronized (this) {
        out.write(ControlCodec.encode(message));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Says that the worker serves on that port. */
  public TestAgent serves(String worker, long launch, int port) {
    ports.put(worker, port);
    WorkerReport report = Fleets.report(worker, launch, WorkerReport.Phase.READY, port);
    reports.put(worker, report);
    say(new ControlMessage.WorkerChanged(report));
    return this;
  }

  /** Says from now on that it lives, as often as an agent does. */
  public TestAgent beats() {
    Thread.ofVirtual()
        .start(() -> {
          try {
            while (!killed && !controlEnded) {
              heartbeat();
              Thread.sleep(BEAT);
            }
          } catch (InterruptedException | UncheckedIOException _) {
            // It is over.
          }
        });
    return this;
  }

  /** Says that it is there, and how its workers are. */
  public void heartbeat() {
    say(new ControlMessage.Heartbeat(machine(), List.copyOf(reports.values()), List.of()));
  }

  private NodeFacts machine() {
    return Fleets.machineOf(host, "linux", "x86_64", freeGib);
  }

  /** Says that so much of its machine's memory is free. */
  public TestAgent hasFree(long gib) {
    freeGib = gib;
    heartbeat();
    return this;
  }

  public TestAgent lanes(int count) {
    for (int i = 0; i < count; i++) {
      dialled.incrementAndGet();
      Thread.ofVirtual().start(this::workLane);
    }
    return this;
  }

  public <T extends ControlMessage> Optional<T> heard(Class<T> kind) {
    return told.stream().filter(kind::isInstance).map(kind::cast).reduce((_, last) -> last);
  }

  /** Every connection ends at once, as with kill -9. */
  void kill() {
    killed = true;
    sockets.forEach(TestAgent::shut);
  }

  /** The control lane alone breaks. */
  void tearControl() {
    shut(control);
  }

  @Override
  public void close() {
    kill();
  }

  private void listen() {
    try {
      LineReader lines =
          new LineReader(
              new BufferedInputStream(control.getInputStream()), ControlCodec.LINE_BYTES_MAX);
      for (byte[] line = lines.next(); line != null; line = lines.next()) {
        ControlMessage message = ControlCodec.decode(line).orElseThrow();
        told.add(message);
        if (message instanceof ControlMessage.LanesWanted wanted) {
          lanes(wanted.count());
        }
      }
    } catch (IOException _) {
      // Seen by the flag.
    } finally {
      controlEnded = true;
    }
  }

  private void workLane() {
    try (Socket lane = dial("work", credential)) {
      InputStream in = lane.getInputStream();
      if (!(LaneLine.read(in) instanceof LaneLine.Open open)) {
        return;
      }
      if (replenishes) {
        lanes(1);
      }
      if (!answersOpen) {
        in.transferTo(OutputStream.nullOutputStream());
        return;
      }
      Integer port = ports.get(open.worker());
      if (port == null) {
        lane.getOutputStream()
            .write(new LaneLine.Refused("no worker " + open.worker() + " runs here").format());
        return;
      }
      tunnel(lane, port);
    } catch (IOException _) {
      // The lane is over.
    }
  }

  private void tunnel(Socket lane, int port) throws IOException {
    try (Socket engine = new Socket(InetAddress.getLoopbackAddress(), port)) {
      engine.setTcpNoDelay(true);
      sockets.add(engine);
      engineSockets.add(engine);
      opened.incrementAndGet();
      lane.getOutputStream().write(new LaneLine.Opened().format());
      Thread.ofVirtual()
          .start(() -> {
            try {
              engine.getInputStream().transferTo(lane.getOutputStream());
            } catch (IOException _) {
              // Either end closed.
            } finally {
              shut(lane);
            }
          });
      lane.getInputStream().transferTo(engine.getOutputStream());
    }
  }

  private Socket dial(String kind, String credential) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), hubPort);
    socket.setTcpNoDelay(true);
    sockets.add(socket);
    if (killed) {
      shut(socket);
    }
    socket.getOutputStream().write(upgrade(kind, node, generation, credential).getBytes(US_ASCII));
    String head = head(socket.getInputStream());
    if (!head.startsWith("HTTP/1.1 101 ")) {
      socket.close();
      throw new IOException(head);
    }
    return socket;
  }

  /** The request by which a lane begins. */
  static String upgrade(String kind, String node, Object generation, String credential) {
    return "GET /lanes/"
        + kind
        + " HTTP/1.1\r\nHost: hub\r\nConnection: Upgrade\r\nUpgrade: flotilla-"
        + kind
        + "\r\nAuthorization: Bearer "
        + credential
        + "\r\nx-flotilla-node: "
        + node
        + "\r\nx-flotilla-generation: "
        + generation
        + "\r\n\r\n";
  }

  /** Everything up to the empty line, and not a byte more. */
  static String head(InputStream in) throws IOException {
    StringBuilder head = new StringBuilder();
    while (head.indexOf("\r\n\r\n") < 0) {
      int c = in.read();
      if (c < 0) {
        return head.toString();
      }
      head.append((char) c);
    }
    return head.toString();
  }

  static void shut(Socket socket) {
    try {
      socket.close();
    } catch (IOException _) {
      // Closed already.
    }
  }
}
