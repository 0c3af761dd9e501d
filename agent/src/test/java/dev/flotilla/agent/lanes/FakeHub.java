package dev.flotilla.agent.lanes;

import dev.flotilla.wire.lanes.ControlCodec;
import dev.flotilla.wire.lanes.ControlMessage;
import dev.flotilla.wire.lanes.ControlMessage.FromHub;
import dev.flotilla.wire.lanes.ControlMessage.Heartbeat;
import dev.flotilla.wire.lanes.ControlMessage.Hello;
import dev.flotilla.wire.lanes.ControlMessage.LanesWanted;
import dev.flotilla.wire.lanes.ControlMessage.Welcome;
import dev.flotilla.wire.lanes.LineReader;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A hub of raw sockets: takes lanes in, and does with them what a test says. */
public final class FakeHub implements AutoCloseable {
  static final Welcome WELCOME = new Welcome("hub-1", 500, 2, 6);

  /** One accepted connection after its upgrade. */
  public static final class Lane {
    final Map<String, String> headers;
    final Socket socket;
    public final InputStream in;
    final OutputStream out;

    Lane(Map<String, String> headers, Socket socket, InputStream in) throws IOException {
      this.headers = headers;
      this.socket = socket;
      this.in = in;
      this.out = socket.getOutputStream();
    }

    public void send(FromHub message) throws IOException {
      sendBytes(ControlCodec.encode(message));
    }

    public void sendBytes(byte[] bytes) throws IOException {
      synchronized (this) {
        out.write(bytes);
        out.flush();
      }
    }

    /** Sends OPEN and reads the answer's line. */
    public String open(String worker, long generation) throws IOException {
      sendBytes(("OPEN " + worker + " " + generation + "\n").getBytes(StandardCharsets.US_ASCII));
      return line(in);
    }

    public boolean hasEnded() {
      try {
        return in.read() < 0;
      } catch (IOException e) {
        return true;
      }
    }

    void close() throws IOException {
      socket.close();
    }
  }

  /** A control lane that was welcomed, with everything it said. */
  public static final class Control {
    public final Lane lane;
    public final Hello hello;
    final List<ControlMessage> said = new CopyOnWriteArrayList<>();
    public volatile boolean ended;

    Control(Lane lane, Hello hello) {
      this.lane = lane;
      this.hello = hello;
    }

    public <T extends ControlMessage> List<T> said(Class<T> kind) {
      return said.stream().filter(kind::isInstance).map(kind::cast).toList();
    }
  }

  final BlockingQueue<Control> controls = new ArrayBlockingQueue<>(100);
  final BlockingQueue<Lane> work = new ArrayBlockingQueue<>(100);
  public final List<String> enrolments = new CopyOnWriteArrayList<>();
  final List<Hello> hellos = new CopyOnWriteArrayList<>();
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private volatile @Nullable ServerSocket server;
  private volatile @Nullable Thread acceptor;
  private volatile int port;
  volatile FromHub answer = WELCOME;
  volatile boolean echoes = true;
  volatile String enrolStatus = "200 OK";
  volatile String enrolBody = "{\"credential\":\"secret-1\"}";
  volatile String credential = "secret-1";
  volatile String upgradeStatus = "";

  public FakeHub() throws IOException {
    start();
  }

  /** Listens, again on the port that it had before. */
  void start() throws IOException {
    ServerSocket fresh = new ServerSocket();
    fresh.setReuseAddress(true);
    fresh.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    port = fresh.getLocalPort();
    server = fresh;
    acceptor = Thread.ofVirtual().start(() -> accept(fresh));
  }

  /** As after kill -9: every socket is gone at once. */
  public void kill() throws IOException {
    ServerSocket old = server;
    if (old != null) {
      old.close();
    }
    Thread accepting = acceptor;
    if (accepting != null) {
      try {
        // Only when nobody accepts any more has the kernel let go of the port.
        accepting.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    for (Socket socket : sockets) {
      try {
        socket.setSoLinger(true, 0);
      } catch (SocketException e) {
        continue; // Closed before.
      }
      socket.close();
    }
    sockets.clear();
    work.clear();
    controls.clear();
  }

  public HubAddress address() {
    return new HubAddress("127.0.0.1", port, false);
  }

  public Control nextControl() throws InterruptedException {
    return orFail(controls.poll(20, TimeUnit.SECONDS), "control lane");
  }

  public Lane nextWork() throws InterruptedException {
    return orFail(work.poll(20, TimeUnit.SECONDS), "work lane");
  }

  private static <T> T orFail(@Nullable T found, String what) {
    if (found == null) {
      throw new AssertionError("no " + what + " within 20 s");
    }
    return found;
  }

  private void accept(ServerSocket from) {
    while (!from.isClosed()) {
      try {
        Socket socket = from.accept();
        sockets.add(socket);
        Thread.ofVirtual().start(() -> serve(socket));
      } catch (IOException e) {
        return;
      }
    }
  }

  private void serve(Socket socket) {
    try {
      socket.setTcpNoDelay(true);
      InputStream in = new BufferedInputStream(socket.getInputStream());
      String request = line(in);
      Map<String, String> headers = new TreeMap<>();
      for (String line = line(in); !line.isEmpty(); line = line(in)) {
        int colon = line.indexOf(':');
        headers.put(
            line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 1).strip());
      }
      if (request.startsWith("POST /api/enrol ")) {
        int length = Integer.parseInt(headers.getOrDefault("content-length", "0"));
        enrolments.add(new String(in.readNBytes(length), StandardCharsets.UTF_8));
        reply(socket, enrolStatus, enrolBody);
        return;
      }
      if (!upgradeStatus.isEmpty()) {
        reply(socket, upgradeStatus, "{\"error\":{\"message\":\"because of the test\"}}");
        return;
      }
      if (!headers.getOrDefault("authorization", "").equals("Bearer " + credential)) {
        reply(socket, "401 Unauthorized", "{\"error\":{\"message\":\"unknown credential\"}}");
        return;
      }
      String protocol = headers.getOrDefault("upgrade", "");
      write(
          socket,
          "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "
              + protocol
              + "\r\n\r\n");
      Lane lane = new Lane(headers, socket, in);
      if (protocol.equals("flotilla-work")) {
        work.add(lane);
      } else {
        control(lane);
      }
    } catch (IOException | IllegalStateException e) {
      // The agent left, or the test killed this hub.
    }
  }

  private void control(Lane lane) throws IOException {
    LineReader lines = new LineReader(lane.in, ControlCodec.LINE_BYTES_MAX);
    byte[] first = lines.next();
    if (first == null || !(ControlCodec.decode(first).orElse(null) instanceof Hello hello)) {
      lane.close();
      return;
    }
    hellos.add(hello);
    lane.send(answer);
    if (!(answer instanceof Welcome)) {
      lane.close();
      return;
    }
    Control control = new Control(lane, hello);
    controls.add(control);
    try {
      for (byte[] line = lines.next(); line != null; line = lines.next()) {
        Optional<ControlMessage> message = ControlCodec.decode(line);
        message.ifPresent(control.said::add);
        if (echoes && message.orElse(null) instanceof Heartbeat) {
          lane.send(new LanesWanted(0));
        }
      }
    } finally {
      control.ended = true;
      lane.close();
    }
  }

  private static void reply(Socket socket, String status, String body) throws IOException {
    write(
        socket,
        "HTTP/1.1 "
            + status
            + "\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: "
            + body.length()
            + "\r\n\r\n"
            + body);
    socket.close();
  }

  private static void write(Socket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    socket.getOutputStream().flush();
  }

  public static String line(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c; (c = in.read()) != '\n'; ) {
      if (c < 0) {
        throw new IOException("end");
      }
      if (c != '\r') {
        line.append((char) c);
      }
    }
    return line.toString();
  }

  @Override
  public void close() throws IOException {
    kill();
  }
}
