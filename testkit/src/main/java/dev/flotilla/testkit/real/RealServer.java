package dev.flotilla.testkit.real;

import dev.flotilla.wire.connection.LoopbackPorts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A {@link RealEngine} that runs, for a test class: {@code RealServer.of(MLX_LM).start()} in
 * {@code @BeforeAll}, {@link #close} in {@code @AfterAll}. It and all that it started end with this
 * JVM, however that ends.
 */
public final class RealServer implements AutoCloseable {
  /** vLLM takes 50 to 120 s on two busy cores, most of it imports. */
  private static final Duration READY_LIMIT = Duration.ofMinutes(8);

  private static final Duration LOOK_EVERY = Duration.ofMillis(200);
  private static final Duration ANSWER_LIMIT = Duration.ofMinutes(3);
  private static final Duration END_LIMIT = Duration.ofSeconds(15);
  private static final int LINES_SHOWN = 30;

  private final Order order;
  private final Process process;
  private final Path log;
  private final int port;

  private RealServer(Order order, Process process, Path log, int port) {
    this.order = order;
    this.process = process;
    this.log = log;
    this.port = port;
  }

  /** A server of that engine with the small model, the name {@code small} and no more options. */
  public static Order of(RealEngine engine) {
    return new Order(engine, engine.model(), "small", List.of(), Map.of());
  }

  /**
   * What is to be started.
   *
   * @param name that requests carry; mlx-lm knows its model as {@code default_model} alone
   * @param options of the engine, beside those that every start has
   * @param environment beside the engine's own
   */
  public record Order(
      RealEngine engine,
      Path model,
      String name,
      List<String> options,
      Map<String, String> environment) {
    public Order {
      options = List.copyOf(options);
      environment = Map.copyOf(environment);
    }

    public Order model(Path other) {
      return new Order(engine, other, name, options, environment);
    }

    public Order name(String other) {
      return new Order(engine, model, other, options, environment);
    }

    public Order options(String... more) {
      List<String> all = new ArrayList<>(options);
      all.addAll(List.of(more));
      return new Order(engine, model, name, all, environment);
    }

    public Order variable(String variable, String value) {
      Map<String, String> all = new HashMap<>(environment);
      all.put(variable, value);
      return new Order(engine, model, name, options, all);
    }

    /** Starts it, and returns when it has answered one request. */
    public RealServer start() {
      try {
        return RealServer.start(this);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static RealServer start(Order order) throws IOException {
    int port = LoopbackPorts.free();
    List<String> command = new ArrayList<>();
    command.addAll(List.of("python3", SmallModel.script("keep.py").toString()));
    command.addAll(order.engine().command(order.name(), order.model(), port, order.options()));
    Path log = Files.createTempFile(order.engine().word() + "-", ".log");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
    builder.environment().putAll(order.engine().environment());
    builder.environment().putAll(order.environment());
    RealServer server = new RealServer(order, builder.start(), log, port);
    boolean ready = false;
    try {
      server.awaitReady();
      ready = true;
      return server;
    } finally {
      if (!ready) {
        server.close();
      }
    }
  }

  private void awaitReady() throws IOException {
    long deadline = System.nanoTime() + READY_LIMIT.toNanos();
    String engine = order.engine().word();
    try {
      while (!answers()) {
        if (process.waitFor(LOOK_EVERY.toMillis(), TimeUnit.MILLISECONDS)) {
          throw new AssertionError(engine + " ended before it was ready:\n" + tail());
        }
        if (System.nanoTime() - deadline > 0) {
          throw new AssertionError(engine + " was not ready in " + READY_LIMIT + ":\n" + tail());
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  /**
   * One token, or where it serves embeddings one vector, proves more than /health does, which
   * mlx-lm answers while it loads.
   */
  private boolean answers() throws InterruptedException {
    boolean embeds = order.options().contains("--embeddings");
    String body =
        embeds
            ? "{\"input\":\"Hello\"}"
            : "{\"model\":\"" + model() + "\",\"prompt\":\"Hello\",\"max_tokens\":1}";
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(baseUrl() + (embeds ? "/embeddings" : "/completions")))
            .timeout(ANSWER_LIMIT)
            .header("Content-Type", "application/json")
            .header("Authorization", "Bearer " + key())
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    try (HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      return client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode() == 200;
    } catch (IOException e) {
      return false; // nothing listens yet, or it is loading
    }
  }

  /** What it was told to demand, in its own variable; empty where nothing. */
  public String key() {
    Map<String, String> set = order.environment();
    return set.getOrDefault("VLLM_API_KEY", set.getOrDefault("LLAMA_API_KEY", ""));
  }

  public RealEngine engine() {
    return order.engine();
  }

  /** The name that a request must carry. */
  public String model() {
    return order.engine() == RealEngine.MLX_LM ? "default_model" : order.name();
  }

  public int port() {
    return port;
  }

  /** Up to and including {@code /v1}. */
  public String baseUrl() {
    return "http://127.0.0.1:" + port + "/v1";
  }

  /** What it printed last. */
  public String tail() throws IOException {
    List<String> lines = Files.readAllLines(log, StandardCharsets.ISO_8859_1);
    return String.join("\n", lines.subList(Math.max(0, lines.size() - LINES_SHOWN), lines.size()));
  }

  @Override
  public void close() {
    try {
      process.getOutputStream().close();
      if (!process.waitFor(END_LIMIT.toSeconds(), TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
      Files.deleteIfExists(log);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
