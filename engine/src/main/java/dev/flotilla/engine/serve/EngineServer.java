package dev.flotilla.engine.serve;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.flotilla.engine.Engine;
import dev.flotilla.engine.RequestRefused;
import dev.flotilla.server.http.ClientConnection;
import dev.flotilla.server.http.ErrorReplies;
import dev.flotilla.server.http.HttpServer;
import dev.flotilla.server.http.HttpServer.Place;
import dev.flotilla.server.http.ListenFailed;
import dev.flotilla.server.http.Paths;
import dev.flotilla.server.http.ServerLimits;
import dev.flotilla.server.http.ServerWords;
import dev.flotilla.wire.openai.ApiError;
import dev.flotilla.wire.openai.RequestScan;
import dev.flotilla.wire.openai.RequestScan.Endpoint;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The engine's listener.
 *
 * <p>{@code GET /health} answers anyone: 200 while the engine works, 503 with the reason when it
 * has failed or the server stops. All else passes the {@link Gate}: it wants the key, where there
 * is one, as {@code Authorization: Bearer} or {@code X-Api-Key}.
 */
public final class EngineServer implements AutoCloseable {
  /** What the server calls itself. */
  static final String NAME = "server";

  /** What a client is told whose request the server's stop refuses or ends. */
  static final ApiError STOPPING =
      ApiError.unavailable(
          "engine_stopping",
          "the server is stopping: ask again when it has been started anew",
          Duration.ofSeconds(5));

  private final Engine engine;
  private final ServedModel model;
  private final ServeSettings settings;
  private final Prompts prompts;
  private final Bodies bodies;
  private final Names names;
  private final ChatCompletions chats;
  private final Completions completions;
  private final Embeddings embeddings;
  private final HttpServer server;

  /** Seconds since 1970 when this server was made, which says since when it has the model. */
  private final long created;

  /** Finds out which tokens forms allow, beside the engine's steps. */
  private final ExecutorService aside =
      Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().name("forms").factory());

  private final ObjectNode facts;

  /**
   * A server that does not listen yet.
   *
   * @param facts what {@code /props} says beside the model's name and the engine's limits
   */
  public EngineServer(
      Engine engine,
      ServedModel model,
      ServeSettings settings,
      Map<String, String> facts,
      Clock clock,
      RandomGenerator random)
      throws ListenFailed {
    this.engine = engine;
    this.model = model;
    this.settings = settings;
    this.facts = Json.object();
    facts.forEach(this.facts::put);
    prompts = new Prompts(model, engine.contextMax(), clock);
    bodies = new Bodies(settings.limits());
    names = new Names(model.name(), facts.getOrDefault("build_info", ""), clock, random);
    Answering answering = new Answering(engine, settings.limits().keepAlive());
    Optional<CallFormat> calls = CallFormat.of(model.templateText());
    AnswerForms forms = new AnswerForms(model, calls, aside);
    chats =
        new ChatCompletions(
            engine, model, prompts, settings, answering, names, random, calls, forms);
    completions = new Completions(engine, model, prompts, answering, names, random, forms);
    embeddings =
        new Embeddings(engine, model, prompts, bodies, names, settings.limits().keepAlive());
    created = clock.instant().getEpochSecond();
    server =
        new HttpServer(
            Place.plain(settings.listen()),
            settings.limits().server(),
            words(settings.limits().server()),
            this::route,
            List.of());
  }

  private static ServerWords words(ServerLimits limits) {
    return new ServerWords(NAME, STOPPING, () -> Bodies.tooLarge(limits.bodyBytesMax()));
  }

  private void route(HttpRouting.Builder routing) {
    routing.error(
        RequestRefused.class,
        (_, response, refused) -> ErrorReplies.send(response, refused.error()));
    routing.addFilter(new Gate(settings));
    Paths.get(routing, "/health", this::health);
    Paths.get(routing, "/v1/models", (_, response) -> send(response, models()));
    Paths.get(routing, "/v1/models/*", this::model);
    Paths.get(routing, "/props", (_, response) -> send(response, props()));
    Paths.get(
        routing,
        "/metrics",
        (_, response) -> {
          response.header(HeaderNames.CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8");
          ClientConnection.current()
              .send(response, MetricsPage.of(engine, model.name()).getBytes(UTF_8));
        });
    post(routing, "/v1/chat/completions", requests(Endpoint.CHAT), chats::answer);
    post(routing, "/v1/completions", requests(Endpoint.COMPLETIONS), completions::answer);
    post(routing, "/v1/embeddings", requests(Endpoint.EMBEDDINGS), embeddings::answer);
    post(routing, "/tokenize", Json::body, this::tokenize);
    post(routing, "/detokenize", Json::body, this::detokenize);
    post(routing, "/apply-template", Json::body, this::applyTemplate);
  }

  private void post(
      HttpRouting.Builder routing,
      String path,
      Function<byte[], ObjectNode> read,
      BiConsumer<ObjectNode, ServerResponse> handler) {
    Paths.post(
        routing,
        path,
        (request, response) ->
            bodies.read(request, bytes -> handler.accept(read.apply(bytes), response)));
  }

  /** How OpenAI's requests are read: first as the hub reads them, with its codes and words. */
  private static Function<byte[], ObjectNode> requests(Endpoint endpoint) {
    return bytes -> {
      if (RequestScan.scanAlone(endpoint, bytes) instanceof RequestScan.Refused refused) {
        throw new RequestRefused(refused.error());
      }
      return Json.body(bytes);
    };
  }

  private void health(ServerRequest request, ServerResponse response) {
    if (engine.failed().isEmpty()) {
      send(response, Json.object().put("status", "ok"));
    } else {
      ErrorReplies.send(
          response,
          ApiError.unavailable(
              "engine_failed",
              "the engine has failed: " + engine.failed(),
              Duration.ofSeconds(30)));
    }
  }

  private ObjectNode models() {
    ObjectNode all = Json.object();
    all.put("object", "list");
    all.putArray("data").add(model());
    return all;
  }

  private ObjectNode model() {
    return Json.object()
        .put("id", model.name())
        .put("object", "model")
        .put("created", created)
        .put("owned_by", "flotilla")
        .put("max_model_len", engine.contextMax());
  }

  private void model(ServerRequest request, ServerResponse response) {
    names.checkModel(request.path().path().substring("/v1/models/".length()));
    send(response, model());
  }

  private ObjectNode props() {
    ObjectNode props = Json.object();
    props.put("engine", "builtin");
    props.put("model_alias", model.name());
    props.putObject("default_generation_settings").put("n_ctx", engine.contextMax());
    props.put("total_slots", engine.limits().sequencesMax());
    props.put("kv_blocks", engine.blocks());
    props.put("chat_template", model.templateText());
    props.setAll(facts);
    return props;
  }

  private void tokenize(ObjectNode body, ServerResponse response) {
    Fields fields = new Fields(body, "");
    names.checkModel(fields);
    int[] tokens;
    Optional<String> text = fields.text("prompt").or(() -> fields.text("content"));
    if (text.isPresent()) {
      boolean ends =
          fields.truth("add_special_tokens").or(() -> fields.truth("add_special")).orElse(false);
      boolean control = fields.truth("parse_special").orElse(true);
      tokens = model.tokenizer().tokenize(text.get(), ends, control);
    } else {
      tokens = prompts.conversation(fields, fields.list("tools"), new HashMap<>()).tokens();
    }
    fields.refuseOthers();
    ObjectNode reply = Json.object();
    reply.put("count", tokens.length);
    reply.put("max_model_len", engine.contextMax());
    ArrayNode list = reply.putArray("tokens");
    for (int token : tokens) {
      list.add(token);
    }
    send(response, reply);
  }

  /** The prompt that a conversation becomes; whatever else the request asks for is no matter. */
  private void applyTemplate(ObjectNode body, ServerResponse response) {
    Fields fields = new Fields(body, "");
    Tools tools = Tools.read(fields);
    String prompt = prompts.conversation(fields, tools.offered(), new HashMap<>()).text();
    send(response, Json.object().put("prompt", prompt));
  }

  private void detokenize(ObjectNode body, ServerResponse response) {
    Fields fields = new Fields(body, "");
    names.checkModel(fields);
    ArrayNode tokens =
        fields
            .list("tokens")
            .orElseThrow(() -> RequestRefused.missing("tokens", "tokens is missing"));
    fields.refuseOthers();
    String text = prompts.tokens("tokens", tokens).text();
    send(response, Json.object().put("prompt", text).put("content", text));
  }

  private static void send(ServerResponse response, ObjectNode body) {
    response.header(HeaderValues.CONTENT_TYPE_JSON);
    ClientConnection.current().send(response, Json.bytes(body));
  }

  /**
   * Starts to listen.
   *
   * @throws ListenFailed where the address is taken or is not this machine's
   */
  public EngineServer start() throws ListenFailed {
    server.start();
    return this;
  }

  /** The port that it listens on. */
  public int port() {
    return server.port();
  }

  /**
   * Takes in nothing more, lets what runs go on for {@link ServerLimits#stopTime}, tells the rest
   * that it is cut, and stops listening. The engine is not closed.
   */
  @Override
  public void close() {
    server.close();
    aside.shutdownNow();
  }
}
