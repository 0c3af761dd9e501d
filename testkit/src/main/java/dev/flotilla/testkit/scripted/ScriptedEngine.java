package dev.flotilla.testkit.scripted;

import dev.flotilla.wire.http.HttpHeaders;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.PushbackInputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import tools.jackson.databind.JsonNode;

/**
 * A real HTTP server on a loopback port that looks like llama-server, and does on command whatever
 * an engine should not do.
 *
 * <p>It speaks over blocking sockets of its own, so that a script can break HTTP at any byte.
 * Requests that no script was set for are answered well. It sees at once when a client goes away,
 * also while a script waits, and records it.
 *
 * <p>In one line: {@code ScriptedEngine.start().whenChat(Script.answer("Hi").dropAfter(1))}.
 * Scripts of one path are used up in order; when none is left, the engine answers as set by {@link
 * #always}, else well. Settings may be changed at any time and hold from the next request on.
 *
 * <p>One virtual thread per connection, and one that watches for the client's end while a script
 * plays; everything ends with {@link #close()}.
 */
public final class ScriptedEngine implements AutoCloseable {
  public static final String CHAT = "/v1/chat/completions";
  public static final String COMPLETIONS = "/v1/completions";
  public static final String EMBEDDINGS = "/v1/embeddings";

  /** How long the {@code await} methods wait. */
  public static final Duration WAIT_MAX = Duration.ofSeconds(20);

  /** How the engine counts tokens. */
  public enum Tokens {
    PER_BYTE,
    PER_WORD
  }

  private final Map<String, Queue<Script>> scripts = new ConcurrentHashMap<>();
  private final Map<String, Script> always = new ConcurrentHashMap<>();
  private final List<ReceivedRequest> requests = new CopyOnWriteArrayList<>();
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final AtomicInteger moments = new AtomicInteger();
  private final AtomicInteger connections = new AtomicInteger();
  private final AtomicInteger inFlight = new AtomicInteger();
  private final AtomicInteger inFlightMax = new AtomicInteger();

  private final int port;
  private volatile ServerSocket listener;
  private volatile Thread acceptor;
  private volatile String model = "scripted";
  private volatile String apiKey = "";
  private volatile int contextTokens = 4096;
  private volatile int slots = 4;
  private volatile Tokens tokens = Tokens.PER_WORD;
  private volatile boolean loading;

  private ScriptedEngine(int wantedPort) {
    try {
      listener = listen(wantedPort);
    } catch (IOException e) {
      throw new UncheckedIOException("the scripted engine can't listen", e);
    }
    this.port = listener.getLocalPort();
    this.acceptor = accept(listener);
  }

  /** An engine on a free port, with model {@code scripted}, 4 slots of 4096 tokens, and no key. */
  public static ScriptedEngine start() {
    return new ScriptedEngine(0);
  }

  /** An engine on that port. */
  public static ScriptedEngine startOn(int port) {
    return new ScriptedEngine(port);
  }

  /** What the engine calls its model. */
  public ScriptedEngine model(String name) {
    model = name;
    return this;
  }

  /** The key that every path but {@code /health} asks for; empty for none. */
  public ScriptedEngine apiKey(String key) {
    apiKey = key;
    return this;
  }

  /** Tokens of one slot's context. A longer prompt is refused as llama-server does. */
  public ScriptedEngine contextTokens(int count) {
    contextTokens = count;
    return this;
  }

  /** What {@code /props} says of slots; requests are not held to it. */
  public ScriptedEngine slots(int count) {
    slots = count;
    return this;
  }

  /** How tokens are counted; by words unless set. */
  public ScriptedEngine tokens(Tokens rule) {
    tokens = rule;
    return this;
  }

  /** While set, everything is answered with 503, as llama-server does while it loads. */
  public ScriptedEngine loading(boolean set) {
    loading = set;
    return this;
  }

  /** The next chats play these scripts, one each. */
  public ScriptedEngine whenChat(Script... next) {
    return when(CHAT, next);
  }

  /** The next requests of that path, without query, play these scripts, one each. */
  public ScriptedEngine when(String path, Script... next) {
    Queue<Script> queue = scripts.computeIfAbsent(path, _ -> new ArrayDeque<>());
    synchronized (queue) {
      queue.addAll(List.of(next));
    }
    return this;
  }

  /** Every chat that has no script of its own plays this one. */
  public ScriptedEngine alwaysChat(Script script) {
    return always(CHAT, script);
  }

  /** Every request of that path that has no script of its own plays this one. */
  public ScriptedEngine always(String path, Script script) {
    always.put(path, script);
    return this;
  }

  public int port() {
    return port;
  }

  /** {@code http://127.0.0.1:PORT}, without a slash at the end. */
  public String url() {
    return "http://127.0.0.1:" + port;
  }

  public InetSocketAddress address() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }

  /** Everything that arrived whole, in order of arrival. */
  public List<ReceivedRequest> requests() {
    return List.copyOf(requests);
  }

  /** What arrived for that path, without query. */
  public List<ReceivedRequest> requests(String path) {
    return requests.stream().filter(request -> plain(request.path()).equals(path)).toList();
  }

  public List<ReceivedRequest> chats() {
    return requests(CHAT);
  }

  /** Connections that were accepted since the start. */
  public int connections() {
    return connections.get();
  }

  /** Chats, completions and embeddings that are being answered now. */
  public int inFlight() {
    return inFlight.get();
  }

  /** The most of them that there were at once. */
  public int inFlightMax() {
    return inFlightMax.get();
  }

  /** Waits until so many chats have arrived; returns the last of them. */
  public ReceivedRequest awaitChat(int count) {
    await(() -> chats().size() >= count, count + " chats did not arrive");
    return chats().get(count - 1);
  }

  /** Waits until exactly so many are in flight. */
  public void awaitInFlight(int count) {
    await(() -> inFlight() == count, "there were never " + count + " requests in flight");
  }

  /** Dies as a process does: every connection is torn down, the port is free. */
  public void die() {
    closeQuietly(listener);
    try {
      // Only when nobody accepts any more has the kernel let go of the port.
      acceptor.join();
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
    for (Socket socket : sockets) {
      try {
        socket.setSoLinger(true, 0);
      } catch (SocketException _) {
        // It is closed already.
      }
      closeQuietly(socket);
    }
  }

  /** Listens again on the same port after {@link #die()}. */
  public void revive() {
    try {
      listener = listen(port);
    } catch (IOException e) {
      throw new UncheckedIOException("port " + port + " is taken", e);
    }
    acceptor = accept(listener);
  }

  @Override
  public void close() {
    die();
  }

  String model() {
    return model;
  }

  int contextTokens() {
    return contextTokens;
  }

  int slots() {
    return slots;
  }

  int count(String text) {
    if (tokens == Tokens.PER_BYTE) {
      return text.getBytes(java.nio.charset.StandardCharsets.UTF_8).length;
    }
    String words = text.strip();
    return words.isEmpty() ? 0 : words.split("\\s+").length;
  }

  int promptTokens(JsonNode request) {
    return count(LlamaRoutes.promptOf(request));
  }

  private static ServerSocket listen(int port) throws IOException {
    ServerSocket socket = new ServerSocket();
    socket.setReuseAddress(true);
    socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1024);
    return socket;
  }

  private Thread accept(ServerSocket from) {
    return Thread.ofVirtual()
        .name("scripted-engine-" + port)
        .start(() -> {
          while (!from.isClosed()) {
            try {
              Socket socket = from.accept();
              connections.incrementAndGet();
              sockets.add(socket);
              Thread.ofVirtual().start(() -> serve(socket));
            } catch (IOException _) {
              return;
            }
          }
        });
  }

  private void serve(Socket socket) {
    try (socket) {
      socket.setTcpNoDelay(true);
      PushbackInputStream in =
          new PushbackInputStream(new BufferedInputStream(socket.getInputStream()), 1);
      while (true) {
        ReceivedRequest request = RequestInput.read(in, socket.getOutputStream());
        if (request == null || !exchange(socket, in, request)) {
          return;
        }
      }
    } catch (IOException _) {
      // The client or the script ended the connection.
    } finally {
      sockets.remove(socket);
    }
  }

  /** Plays one request's script; says whether the connection can carry another. */
  private boolean exchange(Socket socket, PushbackInputStream in, ReceivedRequest request)
      throws IOException {
    boolean generates = Set.of(CHAT, COMPLETIONS, EMBEDDINGS).contains(plain(request.path()));
    if (generates) {
      inFlightMax.accumulateAndGet(inFlight.incrementAndGet(), Math::max);
    }
    synchronized (requests) {
      request.arrive(moments::incrementAndGet);
      requests.add(request);
    }
    Thread watcher = Thread.ofVirtual().start(() -> watch(in, request));
    Exchange exchange = new Exchange(this, request, socket);
    try {
      script(request).play(exchange);
    } finally {
      request.end();
      if (generates) {
        inFlight.decrementAndGet();
      }
      if (exchange.closed()) {
        closeQuietly(socket);
      }
    }
    boolean keep =
        !exchange.closed()
            && request.headers().first("connection").filter("close"::equalsIgnoreCase).isEmpty();
    if (keep) {
      try {
        watcher.join();
      } catch (InterruptedException _) {
        return false;
      }
    }
    return keep;
  }

  /** Reads ahead one byte, to see the client's end while a script plays. */
  private static void watch(PushbackInputStream in, ReceivedRequest request) {
    try {
      int next = in.read();
      if (next >= 0) {
        in.unread(next);
        return;
      }
    } catch (IOException _) {
      // A reset is an end too.
    }
    request.clientGone();
  }

  private Script script(ReceivedRequest request) {
    String path = plain(request.path());
    Queue<Script> queue = scripts.get(path);
    if (queue != null) {
      synchronized (queue) {
        Script next = queue.poll();
        if (next != null) {
          return next;
        }
      }
    }
    Script standing = always.get(path);
    if (loading) {
      return Script.loading();
    }
    if (!authorized(path, request.headers())) {
      return Script.error(401, "authentication_error", "Invalid API Key");
    }
    return standing != null ? standing : LlamaRoutes.of(path);
  }

  private boolean authorized(String path, HttpHeaders headers) {
    return apiKey.isEmpty()
        || path.equals("/health")
        || headers.first("authorization").filter(("Bearer " + apiKey)::equals).isPresent()
        || headers.first("x-api-key").filter(apiKey::equals).isPresent();
  }

  private static String plain(String target) {
    int query = target.indexOf('?');
    return query < 0 ? target : target.substring(0, query);
  }

  private static void await(BooleanSupplier condition, String otherwise) {
    long until = System.nanoTime() + WAIT_MAX.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - until > 0) {
        throw new AssertionError(otherwise + " within " + WAIT_MAX);
      }
      try {
        Thread.sleep(5);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new AssertionError("interrupted", e);
      }
    }
  }

  private static void closeQuietly(AutoCloseable closeable) {
    try {
      closeable.close();
    } catch (Exception _) {
      // What is to be gone is gone.
    }
  }
}
