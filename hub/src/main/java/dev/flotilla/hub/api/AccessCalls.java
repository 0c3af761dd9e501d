package dev.flotilla.hub.api;

import dev.flotilla.hub.keys.EnrolmentTokens;
import dev.flotilla.hub.keys.Keys;
import dev.flotilla.hub.store.Journal;
import dev.flotilla.hub.store.StoreFailed;
import dev.flotilla.wire.lanes.ControlMessage.Severity;
import dev.flotilla.wire.openai.ApiError;
import dev.flotilla.wire.text.Names;
import java.time.Duration;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** {@code /api/keys} and {@code /api/tokens}: who may ask, and which machines may join. */
final class AccessCalls {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private final Keys keys;
  private final EnrolmentTokens tokens;
  private final Journal journal;

  AccessCalls(Keys keys, EnrolmentTokens tokens, Journal journal) {
    this.keys = keys;
    this.tokens = tokens;
    this.journal = journal;
  }

  JsonNode tokens() throws StoreFailed {
    return ApiViews.list(tokens.list());
  }

  JsonNode keys() {
    return ApiViews.list(
        keys.list().stream()
            .map(key -> new ListedKey(key.name(), key.role().word(), key.createdAt().toString()))
            .toList());
  }

  private record ListedKey(String name, String role, String createdAt) {}

  JsonNode createKey(ApiCall call) throws ApiRefusal, StoreFailed {
    JsonNode body = call.json();
    Keys.Role role = body.path("admin").asBoolean(false) ? Keys.Role.ADMIN : Keys.Role.CLIENT;
    return switch (keys.create(ApiCall.text(body, "name"), role)) {
      case Keys.Creation.Refused refused ->
          throw ApiCall.refusal("key_refused", refused.why(), "name");
      case Keys.Creation.Created created -> {
        happened(
            "key-created",
            created.key().name(),
            "The %s key %s was made by %s."
                .formatted(role.word(), created.key().name(), call.by()));
        yield MAPPER
            .createObjectNode()
            .put("name", created.key().name())
            .put("role", role.word())
            .put("key", created.secret())
            .put("demanded", keys.required());
      }
    };
  }

  JsonNode revokeKey(ApiCall call) throws ApiRefusal, StoreFailed {
    String name = call.path("name");
    switch (keys.revoke(name, call.flag("force"))) {
      case Keys.Revocation.Revoked _ -> {}
      case Keys.Revocation.Unknown _ ->
          throw new ApiRefusal(
              ApiError.notFound("unknown_name", "there is no key called " + Names.shown(name)));
      case Keys.Revocation.Refused refused ->
          throw new ApiRefusal(
              new ApiError(
                  409, "invalid_request_error", "last_admin_key", refused.why(), "name", null));
    }
    happened("key-revoked", name, "The key %s was revoked by %s.".formatted(name, call.by()));
    return MAPPER.createObjectNode().put("message", "the key " + name + " is revoked");
  }

  JsonNode createToken(ApiCall call) throws ApiRefusal, StoreFailed {
    JsonNode body = call.json();
    Optional<Duration> life = ApiCall.whole(body, "hours").map(Duration::ofHours);
    return switch (tokens.create(
        body.path("note").asString(""), life, ApiCall.whole(body, "uses"))) {
      case EnrolmentTokens.Creation.Refused refused ->
          throw ApiCall.refusal("token_refused", refused.why(), null);
      case EnrolmentTokens.Creation.Created created -> {
        long id = created.token().id();
        happened(
            "token-created",
            Long.toString(id),
            "The enrolment token %d was made by %s.".formatted(id, call.by()));
        ObjectNode node = MAPPER.valueToTree(created.token());
        yield node.put("token", created.secret());
      }
    };
  }

  JsonNode revokeToken(ApiCall call) throws ApiRefusal, StoreFailed {
    String id = call.path("id");
    Optional<Long> number = ApiCall.id(id);
    if (number.isEmpty() || !tokens.revoke(number.get())) {
      throw new ApiRefusal(
          ApiError.notFound("unknown_name", "there is no token numbered " + Names.shown(id)));
    }
    happened(
        "token-revoked", id, "The enrolment token %s was revoked by %s.".formatted(id, call.by()));
    return MAPPER.createObjectNode().put("message", "the token " + id + " is revoked");
  }

  private void happened(String kind, String subject, String message) {
    journal.event(Severity.INFO, kind, subject, message);
  }
}
