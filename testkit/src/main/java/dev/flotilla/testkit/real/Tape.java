package dev.flotilla.testkit.real;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.flotilla.testkit.scripted.Exchange;
import dev.flotilla.testkit.scripted.ReceivedRequest;
import dev.flotilla.testkit.scripted.Script;
import dev.flotilla.testkit.scripted.ScriptedEngine;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * What a real engine answered to which request, so that tests have its very words where the engine
 * itself is too large to run.
 *
 * <p>{@link #recording} is an engine that hands each request on to the real one and writes the
 * exchange down; {@link #playing} one that answers from what was written. A request is found by its
 * path and by what its JSON says, whatever the order of its fields. One line of a tape is one
 * exchange, as JSON; of two equal requests the first is kept. Safe for any number of connections.
 */
public final class Tape {
  private static final JsonMapper JSON = JsonMapper.shared();

  private static final List<String> PATHS =
      List.of(
          ScriptedEngine.CHAT,
          ScriptedEngine.COMPLETIONS,
          ScriptedEngine.EMBEDDINGS,
          "/tokenize",
          "/apply-template");
  private static final Duration ANSWER_LIMIT = Duration.ofMinutes(5);

  private final List<ObjectNode> exchanges = new ArrayList<>();

  private Tape() {}

  /** A tape with nothing on it. */
  public static Tape empty() {
    return new Tape();
  }

  /** The tape of that name, such as {@code vllm-tools}, that came with the testkit. */
  public static Tape named(String name) {
    Tape tape = new Tape();
    try (InputStream in = Tape.class.getResourceAsStream("tapes/" + name + ".jsonl")) {
      if (in == null) {
        throw new AssertionError(
            "there is no tape "
                + name
                + ": it is recorded by the tests with"
                + " the tag engines, -Dflotilla.tapes=FOLDER");
      }
      new String(in.readAllBytes(), UTF_8)
          .lines()
          .forEach(line -> tape.exchanges.add((ObjectNode) JSON.readTree(line)));
    } catch (IOException e) {
      throw new AssertionError(name + " can't be read", e);
    }
    return tape;
  }

  /** An engine that answers as the one that was recorded. */
  public ScriptedEngine playing() {
    return engine(exchange -> {
      ReceivedRequest request = exchange.request();
      Optional<ObjectNode> found = find(request.path(), content(request));
      if (found.isEmpty()) {
        exchange.json(
            500,
            "{\"error\":{\"message\":\"this request is not on the tape; record it again:"
                + " CONTRIBUTING.md says how\"}}");
        return;
      }
      answer(exchange, found.get());
    });
  }

  /** An engine that asks the real one, and writes down what it says. */
  public ScriptedEngine recording(RealServer real) {
    return recording(real.port());
  }

  /** The same of a server on a port of this machine. */
  public ScriptedEngine recording(int port) {
    return engine(exchange -> {
      ReceivedRequest request = exchange.request();
      ObjectNode line = asked(port, request);
      synchronized (this) {
        if (find(request.path(), content(request)).isEmpty()) {
          exchanges.add(line);
        }
      }
      answer(exchange, line);
    });
  }

  /** Writes the tape into the folder, under that name; what machine this was is left out. */
  public synchronized void save(Path folder, String name) throws IOException {
    StringBuilder lines = new StringBuilder();
    exchanges.forEach(line -> lines.append(line).append('\n'));
    Files.writeString(
        Files.createDirectories(folder).resolve(name + ".jsonl"),
        lines.toString().replace(System.getProperty("os.version"), "KERNEL"));
  }

  private static ScriptedEngine engine(Script script) {
    ScriptedEngine engine = ScriptedEngine.start();
    PATHS.forEach(path -> engine.always(path, script));
    return engine;
  }

  private static void answer(Exchange exchange, ObjectNode line) throws IOException {
    exchange.reply(
        line.path("status").asInt(),
        line.path("type").asString(""),
        line.path("body").asString("").getBytes(UTF_8));
  }

  private synchronized Optional<ObjectNode> find(String path, JsonNode content) {
    return exchanges.stream()
        .filter(each ->
            each.path("path").asString("").equals(path) && each.path("request").equals(content))
        .findFirst();
  }

  /** The request as JSON, or as one text where it is none. */
  private static JsonNode content(ReceivedRequest request) {
    try {
      return JSON.readTree(request.bodyText());
    } catch (JacksonException _) {
      return JSON.valueToTree(request.bodyText());
    }
  }

  private static ObjectNode asked(int port, ReceivedRequest request) throws IOException {
    HttpRequest.Builder builder =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + request.path()))
            .timeout(ANSWER_LIMIT)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofByteArray(request.body()));
    try (HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      HttpResponse<byte[]> reply =
          client.send(builder.build(), HttpResponse.BodyHandlers.ofByteArray());
      ObjectNode line = JSON.createObjectNode().put("path", request.path());
      line.set("request", content(request));
      return line.put("status", reply.statusCode())
          .put("type", reply.headers().firstValue("content-type").orElse(""))
          .put("body", new String(reply.body(), UTF_8));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }
}
