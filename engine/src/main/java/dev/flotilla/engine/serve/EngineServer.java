package dev.flotilla.engine.serve;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.flotilla.engine.Engine;
import dev.flotilla.engine.RequestRefused;
import dev.flotilla.wire.openai.ApiError;
import dev.flotilla.wire.openai.RequestScan;
import dev.flotilla.wire.openai.RequestScan.Endpoint;
import dev.flotilla.wire.server.FreeAddress;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.helidon.webserver.http1.Http1Config;
import io.helidon.webserver.http1.Http1ConnectionSelector;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
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
  private final Engine engine;
  private final ServedModel model;
  private final ServeSettings settings;
  private final Prompts prompts;
  private final Bodies bodies;
  private final Names names;
  private final ChatCompletions chats;
  private final Completions completions;
  private final Embeddings embeddings;
  private final Clients clients;
  private final WebServer server;

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
      RandomGenerator random) {
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
    clients = new Clients(http(settings.limits()), settings.limits(), System::nanoTime);
    server = build();
  }

  private static Http1ConnectionSelector http(ServerLimits limits) {
    return Http1ConnectionSelector.builder()
        .config(
            Http1Config.builder()
                .maxHeadersSize(limits.headBytesMax())
                .maxPrologueLength(ServerLimits.FIRST_LINE_BYTES_MAX)
                .continueImmediately(false)
                .sendKeepAliveHeader(false)
                .build())
        .build();
  }

  private WebServer build() {
    ServerLimits limits = settings.limits();
    return WebServer.builder()
        .shutdownHook(false)
        .featuresDiscoverServices(false)
        .address(settings.listen().getAddress())
        .port(settings.listen().getPort())
        .maxPayloadSize(limits.bodyBytesMax())
        .maxTcpConnections(limits.connectionsMax())
        .writeQueueLength(0)
        .smartAsyncWrites(false)
        .backlog(1024)
        .connectionOptions(options -> options.tcpNoDelay(true))
        .contentEncoding(PlainBodies.ALONE)
        .idleConnectionTimeout(limits.idle())
        .idleConnectionPeriod(Duration.ofSeconds(15))
        .protocolsDiscoverServices(false)
        .concurrencyLimitDiscoverServices(false)
        .shutdownGracePeriod(Clients.LAST_WORDS)
        .directHandlers(Errors.handlers())
        .addConnectionSelector(clients)
        .routing(this::route)
        .build();
  }

  private void route(HttpRouting.Builder routing) {
    routing.error(
        RequestRefused.class, (_, response, refused) -> Errors.send(response, refused.error()));
    routing.error(Throwable.class, Errors::bug);
    routing.addFilter(new Gate(clients, settings));
    get(routing, "/health", this::health);
    get(routing, "/v1/models", (_, response) -> send(response, models()));
    get(routing, "/v1/models/*", this::model);
    get(routing, "/props", (_, response) -> send(response, props()));
    get(
        routing,
        "/metrics",
        (_, response) -> {
          response.header(HeaderNames.CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8");
          WatchedConnection.current()
              .send(response, MetricsPage.of(engine, model.name()).getBytes(UTF_8));
        });
    post(routing, "/v1/chat/completions", requests(Endpoint.CHAT), chats::answer);
    post(routing, "/v1/completions", requests(Endpoint.COMPLETIONS), completions::answer);
    post(routing, "/v1/embeddings", requests(Endpoint.EMBEDDINGS), embeddings::answer);
    post(routing, "/tokenize", Json::body, this::tokenize);
    post(routing, "/detokenize", Json::body, this::detokenize);
    post(routing, "/apply-template", Json::body, this::applyTemplate);
  }

  private static void get(HttpRouting.Builder routing, String path, Handler handler) {
    routing.get(path, handler);
    routing.head(path, handler);
    routing.any(path, (_, response) -> Errors.otherMethod(response, "GET, HEAD"));
  }

  private void post(
      HttpRouting.Builder routing,
      String path,
      Function<byte[], ObjectNode> read,
      BiConsumer<ObjectNode, ServerResponse> handler) {
    routing.post(
        path,
        (request, response) ->
            bodies.read(request, bytes -> handler.accept(read.apply(bytes), response)));
    routing.any(path, (_, response) -> Errors.otherMethod(response, "POST"));
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
      Errors.send(
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
    WatchedConnection.current().send(response, Json.bytes(body));
  }

  /**
   * Starts to listen.
   *
   * @throws IOException where the address is taken or is not this machine's, in words
   */
  public EngineServer start() throws IOException {
    FreeAddress.check(settings.listen(), "server");
    server.start();
    if (!server.isRunning()) {
      throw new IOException(
          "the server can't listen on "
              + FreeAddress.shown(settings.listen())
              + "; the log says why");
    }
    clients.start();
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
    clients.stop();
    server.stop();
    aside.shutdownNow();
  }
}
