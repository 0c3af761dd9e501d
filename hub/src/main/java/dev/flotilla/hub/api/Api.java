package dev.flotilla.hub.api;

import dev.flotilla.hub.fleet.CommandResult;
import dev.flotilla.hub.fleet.Fleet;
import dev.flotilla.hub.keys.EnrolledNodes;
import dev.flotilla.hub.keys.EnrolmentTokens;
import dev.flotilla.hub.keys.Keys;
import dev.flotilla.hub.proof.ProofArchive;
import dev.flotilla.hub.releases.Releases;
import dev.flotilla.hub.reports.ReportLimits;
import dev.flotilla.hub.reports.Reports;
import dev.flotilla.hub.routing.Dispatcher;
import dev.flotilla.hub.spec.Revisions;
import dev.flotilla.hub.spec.SpecDifference.Change;
import dev.flotilla.hub.store.Event;
import dev.flotilla.hub.store.EventTable;
import dev.flotilla.hub.store.Journal;
import dev.flotilla.hub.store.Store;
import dev.flotilla.hub.store.StoreFailed;
import dev.flotilla.hub.store.UsageTable;
import dev.flotilla.server.http.BrowserGuard;
import dev.flotilla.server.http.ErrorReplies;
import dev.flotilla.wire.lanes.ControlMessage.Severity;
import dev.flotilla.wire.openai.ApiError;
import dev.flotilla.wire.text.Names;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.HttpMediaTypes;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Supplier;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * {@code /api/*}. Every request passes {@link #answerItself}: browser guard, key, the handler, one
 * form of error. Handlers only read the parts and command them; nothing is kept here.
 *
 * <p>Where keys are demanded, one with the role {@code admin} is: whoever can apply a configuration
 * can have programs started on every node, within the nodes' policies.
 */
public final class Api implements HttpService {
  private static final System.Logger LOG = System.getLogger(Api.class.getName());
  private static final JsonMapper MAPPER = JsonMapper.builder().build();
  private static final String HOW_TO_MAKE_A_KEY =
      "an administrator makes one with 'flotilla keys create --admin NAME'; while the hub is"
          + " stopped, --home DIR makes the first on its machine";

  private static final int EVENTS_MAX = 1000;
  private static final int REQUESTS_MAX = 1000;
  private static final int HISTORY_MAX = 1000;
  private static final int HOURS_MAX = 24 * 31;
  private static final int REVISIONS_SHOWN = 50;

  private final Parts parts;
  private final AccessCalls access;
  private final ReportCalls reports;
  private final ReleaseCalls releases;
  private final UsageLog usageLog;
  private final BrowserGuard guard;

  /**
   * What the API shows and commands.
   *
   * @param listenHost what the hub listens on, for the browser guard
   * @param machineName the machine's own name, empty where unknown
   */
  public record Parts(
      Fleet fleet,
      Dispatcher dispatcher,
      Store store,
      Keys keys,
      EnrolmentTokens tokens,
      EnrolledNodes nodes,
      Journal journal,
      Revisions revisions,
      Reports reports,
      Releases releases,
      ProofArchive proofs,
      Supplier<HubStatus> status,
      String listenHost,
      String machineName) {}

  public Api(Parts parts) {
    this.parts = parts;
    this.access = new AccessCalls(parts.keys(), parts.tokens(), parts.journal());
    this.reports = new ReportCalls(parts.reports(), ReportLimits.DEFAULT);
    this.releases = new ReleaseCalls(parts.releases(), parts.fleet());
    this.usageLog = new UsageLog(parts.store(), InstantSource.system());
    this.guard = HostGuard.guard(parts.listenHost(), parts.machineName(), parts.keys().required());
  }

  @Override
  public void routing(HttpRules rules) {
    get(rules, "/api/status", call -> MAPPER.valueToTree(parts.status().get()));
    get(
        rules,
        "/api/workers",
        call -> ApiViews.workers(parts.fleet().workers(), parts.dispatcher().loads()));
    get(rules, "/api/nodes", call -> ApiViews.list(parts.fleet().nodes()));
    get(
        rules,
        "/api/models",
        call -> ApiViews.models(parts.revisions().inForce().spec(), parts.fleet().current()));
    get(
        rules,
        "/api/backends",
        call ->
            ApiViews.backends(
                parts.revisions().inForce().spec(),
                parts.fleet().backends(),
                parts.dispatcher().loads()));
    get(rules, "/api/routes", call -> ApiViews.routes(parts.revisions().inForce().spec()));
    get(rules, "/api/events", this::events);
    get(rules, "/api/history", this::history);
    get(rules, "/api/usage", this::usage);
    rules.get(
        "/api/usage/log", (request, response) -> answerItself(request, response, usageLog::send));
    get(
        rules,
        "/api/requests",
        call ->
            ApiViews.list(
                parts
                    .store()
                    .usageLog()
                    .newest((int) call.number("limit", 50, 1, REQUESTS_MAX))
                    .reversed()));
    get(rules, "/api/progress", call -> ApiViews.list(parts.fleet().progress()));
    get(
        rules,
        "/api/revisions",
        call -> ApiViews.list(parts.store().revisions().newest(REVISIONS_SHOWN)));
    post(rules, "/api/apply", this::apply);
    post(rules, "/api/drain", call -> command(call, parts.fleet()::drain));
    post(rules, "/api/resume", call -> command(call, parts.fleet()::resume));
    post(rules, "/api/restart", call -> command(call, parts.fleet()::restart));
    post(rules, "/api/prove", this::prove);
    get(rules, "/api/proofs", this::proofs);
    post(rules, "/api/forget", this::forget);
    get(rules, "/api/keys", call -> access.keys());
    post(rules, "/api/keys", access::createKey);
    rules.delete("/api/keys/{name}", handler(access::revokeKey));
    get(rules, "/api/tokens", call -> access.tokens());
    post(rules, "/api/tokens", access::createToken);
    rules.delete("/api/tokens/{id}", handler(access::revokeToken));
    get(rules, "/api/reports", call -> reports.list());
    post(rules, "/api/reports", reports::add);
    get(rules, "/api/reports/{id}", reports::show);
    rules.delete("/api/reports/{id}", handler(reports::remove));
    get(rules, "/api/releases", call -> releases.list());
    post(rules, "/api/releases", releases::add);
    rules.delete("/api/releases/{version}", handler(releases::remove));
    rules.any("/api/*", handler(Api::nothingHere));
  }

  /** One thing that the API does. */
  @FunctionalInterface
  private interface Handler {
    JsonNode handle(ApiCall call) throws ApiRefusal, StoreFailed;
  }

  /** One thing that the API does, with a reply that is no document. */
  @FunctionalInterface
  private interface Writer {
    void write(ApiCall call, ServerResponse response) throws ApiRefusal, StoreFailed;
  }

  private void get(HttpRules rules, String path, Handler handler) {
    rules.get(path, handler(handler));
  }

  private void post(HttpRules rules, String path, Handler handler) {
    rules.post(path, handler(handler));
  }

  private io.helidon.webserver.http.Handler handler(Handler handler) {
    return (request, response) -> answer(request, response, handler);
  }

  private void answer(ServerRequest request, ServerResponse response, Handler handler) {
    answerItself(
        request,
        response,
        (call, open) -> {
          JsonNode document = handler.handle(call);
          open.header(HeaderValues.createCached(HeaderNames.CACHE_CONTROL, "no-store"));
          open.headers().contentType(HttpMediaTypes.JSON_UTF_8);
          open.send(MAPPER.writeValueAsBytes(document));
        });
  }

  private void answerItself(ServerRequest request, ServerResponse response, Writer writer) {
    try {
      writer.write(new ApiCall(request, admit(request)), response);
    } catch (ApiRefusal e) {
      refuse(response, e.error());
    } catch (StoreFailed e) {
      refuse(
          response,
          ApiError.unavailable("store_unavailable", e.sentence(), Duration.ofSeconds(10)));
    } catch (RuntimeException e) {
      LOG.log(System.Logger.Level.ERROR, "an API request failed: " + request.path().path(), e);
      refuse(
          response,
          new ApiError(
              500,
              "server_error",
              "internal_error",
              "the hub failed at this request; its log says how",
              null,
              null));
    }
  }

  /** Who asks, or a refusal. */
  private String admit(ServerRequest request) throws ApiRefusal {
    Optional<ApiError> refusal = guard.refusal(BrowserGuard.Source.of(request));
    if (refusal.isPresent()) {
      throw new ApiRefusal(refusal.get());
    }
    String bearer = ApiCall.bearer(request);
    Optional<Keys.Key> key = bearer.isEmpty() ? Optional.empty() : parts.keys().find(bearer);
    if (!parts.keys().required()) {
      return key.map(Keys.Key::name).orElse("a request without a key");
    }
    if (key.isEmpty()) {
      throw new ApiRefusal(
          ApiError.unauthorized(
              bearer.isEmpty()
                  ? "this hub demands a key: " + HOW_TO_MAKE_A_KEY
                  : "the key is unknown to this hub, or revoked: " + HOW_TO_MAKE_A_KEY));
    }
    if (key.get().role() != Keys.Role.ADMIN) {
      throw new ApiRefusal(
          new ApiError(
              403,
              "permission_error",
              "admin_key_needed",
              "the key '"
                  + key.get().name()
                  + "' may ask models; this needs an admin key: "
                  + HOW_TO_MAKE_A_KEY,
              null,
              null));
    }
    return key.get().name();
  }

  private static void refuse(ServerResponse response, ApiError error) {
    if (!response.isSent()) {
      ErrorReplies.send(response, error);
    }
  }

  private static JsonNode nothingHere(ApiCall call) throws ApiRefusal {
    throw new ApiRefusal(
        ApiError.notFound(
            "unknown_path",
            "the API has no " + call.request().prologue().method().text() + " here"));
  }

  private JsonNode events(ApiCall call) throws ApiRefusal, StoreFailed {
    int limit = (int) call.number("limit", 100, 1, EVENTS_MAX);
    long after = call.number("after", 0, 0, Long.MAX_VALUE);
    Severity atLeast = Severity.INFO;
    if (call.query("severity").isPresent()) {
      try {
        atLeast = Severity.valueOf(call.query("severity").get().toUpperCase(Locale.ROOT));
      } catch (IllegalArgumentException e) {
        throw ApiCall.refusal(
            "invalid_parameter", "severity is info, warning or error", "severity");
      }
    }
    EventTable.Filter filter =
        new EventTable.Filter(call.query("subject"), call.query("kind"), atLeast);
    EventTable table = parts.store().events();
    List<Event> events =
        call.flag("oldest") || after > 0
            ? table.after(after, limit, filter)
            : table.newest(limit, filter).reversed();
    return ApiViews.list(events);
  }

  /** The newest states of one worker, oldest first: {@code ?worker=NAME&limit=N}. */
  private JsonNode history(ApiCall call) throws ApiRefusal, StoreFailed {
    String worker =
        call.query("worker")
            .orElseThrow(() -> ApiCall.refusal("missing_field", "name a worker", "worker"));
    int limit = (int) call.number("limit", 20, 1, HISTORY_MAX);
    return ApiViews.list(parts.store().workerHistory().of(worker, limit).reversed());
  }

  /** What was asked of one model, worker or backend, or by one key: {@code ?by=model&name=N}. */
  private JsonNode usage(ApiCall call) throws ApiRefusal, StoreFailed {
    UsageTable.By by =
        switch (call.query("by").orElse("")) {
          case "model" -> UsageTable.By.MODEL;
          case "target" -> UsageTable.By.TARGET;
          case "key" -> UsageTable.By.KEY;
          default -> throw ApiCall.refusal("invalid_parameter", "by is model, target or key", "by");
        };
    String name =
        call.query("name")
            .orElseThrow(() -> ApiCall.refusal("missing_field", "say whose usage", "name"));
    int hours = (int) call.number("hours", 24, 1, HOURS_MAX);
    return MAPPER.valueToTree(parts.store().usageLog().summary(by, name, Duration.ofHours(hours)));
  }

  private JsonNode apply(ApiCall call) throws ApiRefusal, StoreFailed {
    String yaml = new String(call.file(), StandardCharsets.UTF_8);
    String fileName = call.query("file").filter(name -> name.length() <= 200).orElse("fleet.yaml");
    ObjectNode node = MAPPER.createObjectNode();
    return switch (parts.revisions().apply(yaml, fileName, call.by(), call.flag("dry-run"))) {
      case Revisions.Outcome.Rejected rejected ->
          throw ApiCall.refusal("invalid_configuration", rejected.bad().text(), null);
      case Revisions.Outcome.WouldChange would ->
          changes(node, would.changes())
              .put("revision", parts.revisions().inForce().number())
              .put(
                  "message",
                  would.changes().isEmpty()
                      ? "in order; nothing would change"
                      : "in order; nothing was changed (--dry-run)");
      case Revisions.Outcome.Unchanged unchanged ->
          changes(node, List.of())
              .put("revision", unchanged.revision())
              .put("message", "nothing changes; revision " + unchanged.revision() + " stays");
      case Revisions.Outcome.Applied applied ->
          changes(node, applied.changes())
              .put("revision", applied.revision())
              .put("message", "revision " + applied.revision() + " is in force");
    };
  }

  private static ObjectNode changes(ObjectNode node, List<Change> changes) {
    var lines = node.putArray("changes");
    for (Change change : changes) {
      String mark =
          switch (change.kind()) {
            case ADDED -> "+ ";
            case CHANGED -> "~ ";
            case REMOVED -> "- ";
          };
      lines.add(mark + change);
    }
    return node;
  }

  /** What the fleet is told to do with a worker or node. */
  @FunctionalInterface
  private interface Command {
    CommandResult run(String name, String by);
  }

  private static JsonNode command(ApiCall call, Command command) throws ApiRefusal {
    String name = ApiCall.text(call.json(), "name");
    return outcome(command.run(name, call.by()));
  }

  /** {@code {"name":WORKER,"asReference":true}}; the latter may be missing. */
  private JsonNode prove(ApiCall call) throws ApiRefusal {
    JsonNode order = call.json();
    boolean asReference = order.path("asReference").asBoolean(false);
    return outcome(parts.fleet().prove(ApiCall.text(order, "name"), asReference, call.by()));
  }

  /** The newest proof of each worker, or the newest of one: {@code ?worker=NAME&limit=N}. */
  private JsonNode proofs(ApiCall call) throws ApiRefusal {
    int limit = (int) call.number("limit", 20, 1, HISTORY_MAX);
    return ApiViews.list(
        call.query("worker")
            .map(worker -> parts.proofs().of(worker, limit))
            .orElseGet(() -> parts.proofs().latest()));
  }

  /** The fleet first, which refuses while the node is connected; then its right to dial. */
  private JsonNode forget(ApiCall call) throws ApiRefusal, StoreFailed {
    String name = ApiCall.text(call.json(), "name");
    CommandResult result = parts.fleet().forget(name, call.by());
    if (result instanceof CommandResult.Refused) {
      return outcome(result);
    }
    boolean enrolled = parts.nodes().forget(name);
    return outcome(
        enrolled && result instanceof CommandResult.Unknown
            ? new CommandResult.Done(
                "Node " + name + ", which never joined, is forgotten.", List.of())
            : result);
  }

  private static JsonNode outcome(CommandResult result) throws ApiRefusal {
    return switch (result) {
      case CommandResult.Done done -> MAPPER.valueToTree(done);
      case CommandResult.Unknown unknown ->
          throw new ApiRefusal(
              ApiError.notFound(
                  "unknown_name",
                  "neither a worker nor a node is called "
                      + Names.shown(unknown.name())
                      + (unknown.nearest().isEmpty()
                          ? ""
                          : "; there is " + String.join(", ", unknown.nearest()))));
      case CommandResult.Refused refused ->
          throw new ApiRefusal(
              new ApiError(
                  409, "invalid_request_error", "not_possible_now", refused.why(), "name", null));
    };
  }
}
