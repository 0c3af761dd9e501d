package dev.flotilla.agent.lanes;

import dev.flotilla.wire.http.Http1;
import dev.flotilla.wire.http.Http1Limits;
import dev.flotilla.wire.http.HttpCall;
import dev.flotilla.wire.http.HttpHeaders;
import dev.flotilla.wire.http.HttpReply;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/** {@code POST /api/enrol}: a token becomes this agent's own credential, once. */
final class Enrolment {
  private static final int BODY_BYTES_MAX = 16 << 10;
  private static final JsonMapper JSON = JsonMapper.shared();

  /** What came of it. */
  sealed interface Result {

    /** The credential is a secret. */
    record Enrolled(String credential) implements Result {
      @Override
      public String toString() {
        return "Enrolled[]";
      }
    }

    /** Never without a person. */
    record Over(AgentEnd end) implements Result {}

    /** Perhaps later. */
    record Later(String why) implements Result {}
  }

  private final HubDialer dialer;

  Enrolment(HubDialer dialer) {
    this.dialer = dialer;
  }

  /**
   * @throws IOException where the hub can't be reached, or what answers is none
   */
  Result enrol(String token, String node, String agentId) throws IOException {
    byte[] body = JSON.writeValueAsBytes(Map.of("token", token, "node", node, "agentId", agentId));
    try (HubConnection hub = dialer.dial()) {
      Http1 http = new Http1(hub, dialer.address().hostHeader(), Http1Limits.DEFAULTS);
      HttpHeaders headers = HttpHeaders.of("content-type", "application/json");
      HttpReply reply = http.exchange(HttpCall.post("/api/enrol", headers, body));
      byte[] answer = reply.body().readNBytes(BODY_BYTES_MAX);
      return read(reply.status(), answer, node, dialer.address());
    }
  }

  static Result read(int status, byte[] answer, String node, HubAddress address) {
    if (isNoHub(status, answer)) {
      return new Result.Over(AgentEnd.noHub(address, status));
    }
    String said = LaneUpgrade.message(answer);
    return switch (status) {
      case 200, 201 -> credential(answer);
      case 401, 403 ->
          new Result.Over(
              new AgentEnd(
                  "bad-token",
                  withRemedy(
                      said.isEmpty() ? "The hub does not take the enrolment token." : said)));
      case 409 ->
          new Result.Over(
              new AgentEnd(
                  "name-taken",
                  said.isEmpty()
                      ? "Another agent is enrolled as node '"
                          + node
                          + "'. Choose another with --name."
                      : said));
      case 400, 413, 422 ->
          new Result.Over(
              new AgentEnd(
                  "not-enrolled",
                  said.isEmpty() ? "the enrolment was answered with HTTP " + status : said));
      default ->
          new Result.Later(
              said.isEmpty() ? "the enrolment was answered with HTTP " + status : said);
    };
  }

  /** A hub has the path and asks for no key there. */
  private static boolean isNoHub(int status, byte[] answer) {
    return switch (status) {
      case 404, 405 -> true;
      case 401 -> code(answer).equals("invalid_api_key");
      case 400, 413, 422 -> LaneUpgrade.message(answer).isEmpty();
      default -> false;
    };
  }

  private static String code(byte[] answer) {
    try {
      return JSON.readTree(answer).path("error").path("code").asString("");
    } catch (JacksonException e) {
      return "";
    }
  }

  /** What the hub said, and what to do about it where the hub did not say that too. */
  static String withRemedy(String said) {
    return said.contains("flotilla tokens create")
        ? said
        : said
            + (said.endsWith(".") ? "" : ".")
            + " Make a token on the hub's machine with 'flotilla tokens create' and start the agent"
            + " with --token.";
  }

  private static Result credential(byte[] answer) {
    try {
      String credential = JSON.readTree(answer).path("credential").asString("");
      if (!credential.isEmpty()) {
        return new Result.Enrolled(credential);
      }
    } catch (JacksonException e) {
      // Told below as what it is: not a hub's answer.
    }
    return new Result.Later(
        "what answers the enrolment gives no credential: "
            + new String(answer, 0, Math.min(answer.length, 60), StandardCharsets.ISO_8859_1)
                .replaceAll("[^ -~]", "?"));
  }
}
