package dev.flotilla.hub.lanes;

import dev.flotilla.wire.openai.ApiError;
import dev.flotilla.wire.openai.ApiErrors;
import dev.flotilla.wire.text.Names;
import io.helidon.http.HeaderNames;
import io.helidon.http.Status;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.LongSupplier;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * {@code POST /api/enrol}: a token becomes a node's credential. Register at {@code /}, outside of
 * whatever asks for a client's key: the token is the key here. Also answers those who come to a
 * lane's path without wanting an upgrade.
 *
 * <p>Guessing is slowed for everyone together: beyond the limit's attempts a minute the answer is a
 * 429, whoever asks.
 */
public final class EnrolService implements HttpService {
  private static final int BODY_BYTES_MAX = 4096;
  private static final int FIELD_CHARS_MAX = 256;
  private static final Duration STORE_RETRY = Duration.ofSeconds(10);
  private static final Duration MINUTE = Duration.ofMinutes(1);
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private final NodeCredentials credentials;
  private final RateLimit rate;

  /**
   * The service.
   *
   * @param nanoTime a clock that never jumps, such as {@code System::nanoTime}
   */
  public EnrolService(NodeCredentials credentials, LaneLimits limits, LongSupplier nanoTime) {
    this.credentials = credentials;
    this.rate = new RateLimit(limits.enrolmentsPerMinute(), MINUTE, nanoTime);
  }

  @Override
  public void routing(HttpRules rules) {
    rules
        .post("/api/enrol", this::enrol)
        .get("/lanes/control", EnrolService::noUpgrade)
        .get("/lanes/work", EnrolService::noUpgrade);
  }

  private void enrol(ServerRequest request, ServerResponse response) {
    Optional<byte[]> body = body(request);
    if (body.isEmpty()) {
      response.header(HeaderNames.CONNECTION, "close");
      refuse(
          response,
          new ApiError(
              413,
              "invalid_request_error",
              "body_too_large",
              "An enrolment has at most " + BODY_BYTES_MAX + " bytes.",
              null,
              null));
      return;
    }
    if (!rate.admit()) {
      refuse(
          response,
          ApiError.tooManyRequests(
              "too_many_enrolments",
              "This hub looks at no more than "
                  + rate.limit()
                  + " enrolments a minute. Try again in a minute.",
              MINUTE));
      return;
    }
    Request asked;
    try {
      asked = Request.read(body.get());
    } catch (IllegalArgumentException e) {
      refuse(response, ApiError.badRequest("bad_enrolment", String.valueOf(e.getMessage()), null));
      return;
    }
    switch (credentials.enrol(asked.token(), asked.node(), asked.agentId())) {
      case NodeCredentials.Enrolment.Enrolled enrolled ->
          send(
              response,
              200,
              JSON.writeValueAsBytes(
                  JSON.createObjectNode().put("credential", enrolled.credential())));
      case NodeCredentials.Enrolment.BadToken bad ->
          refuse(
              response,
              new ApiError(
                  401,
                  "authentication_error",
                  "bad_token",
                  bad.why()
                      + " Make a new one on the hub's machine with 'flotilla tokens create' and pass"
                      + " it with --token.",
                  "token",
                  null));
      case NodeCredentials.Enrolment.NameTaken _ ->
          refuse(
              response,
              new ApiError(
                  409,
                  "invalid_request_error",
                  "name_taken",
                  "Another agent is enrolled as node "
                      + asked.node()
                      + ". Give this one another name: 'flotilla agent --name NAME'. If that agent"
                      + " is gone for good, 'flotilla forget "
                      + asked.node()
                      + "' gives its name free.",
                  "node",
                  null));
      case NodeCredentials.Enrolment.NotNow later ->
          refuse(response, ApiError.unavailable("store_unavailable", later.why(), STORE_RETRY));
    }
  }

  /** The whole body, empty where it is too large. */
  private static Optional<byte[]> body(ServerRequest request) {
    if (!request.content().hasEntity()) {
      return Optional.of(new byte[0]);
    }
    try (InputStream in = request.content().inputStream()) {
      byte[] body = in.readNBytes(BODY_BYTES_MAX + 1);
      return body.length > BODY_BYTES_MAX ? Optional.empty() : Optional.of(body);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void noUpgrade(ServerRequest request, ServerResponse response) {
    response.header(HeaderNames.UPGRADE, "flotilla-control, flotilla-work");
    refuse(
        response,
        new ApiError(
            426,
            "invalid_request_error",
            "upgrade_required",
            request.path().path()
                + " is where agents dial lanes, with an HTTP/1.1 upgrade. A proxy between the agent"
                + " and this hub must pass the headers Connection and Upgrade on.",
            null,
            null));
  }

  private static void refuse(ServerResponse response, ApiError error) {
    Duration wait = error.retryAfter();
    if (wait != null) {
      response.header(HeaderNames.RETRY_AFTER, String.valueOf(wait.toSeconds()));
    }
    send(response, error.status(), ApiErrors.body(error));
  }

  private static void send(ServerResponse response, int status, byte[] json) {
    response.status(Status.create(status));
    response.header(HeaderNames.CONTENT_TYPE, "application/json");
    response.send(json);
  }

  /** The body of an enrolment; the token is a secret. */
  private record Request(String token, String node, String agentId) {

    /**
     * Reads a body.
     *
     * @throws IllegalArgumentException where it is none; the message says what is wrong
     */
    static Request read(byte[] body) {
      JsonNode json;
      try {
        json = JSON.readTree(body);
      } catch (JacksonException _) {
        throw new IllegalArgumentException("The body is not JSON.");
      }
      Request request = new Request(text(json, "token"), text(json, "node"), text(json, "agentId"));
      Names.nodeProblem(request.node())
          .ifPresent(problem -> {
            throw new IllegalArgumentException(problem + ".");
          });
      return request;
    }

    private static String text(JsonNode json, String field) {
      JsonNode value = json.get(field);
      if (value == null || !value.isString() || value.stringValue().isBlank()) {
        throw new IllegalArgumentException(
            "The body is {\"token\",\"node\",\"agentId\"}, all of them text; "
                + field
                + " is not.");
      }
      if (value.stringValue().length() > FIELD_CHARS_MAX) {
        throw new IllegalArgumentException(
            field + " has more than " + FIELD_CHARS_MAX + " characters.");
      }
      return value.stringValue();
    }

    @Override
    public String toString() {
      return "Request[node " + node + "]";
    }
  }
}
