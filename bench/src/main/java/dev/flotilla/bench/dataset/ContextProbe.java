package dev.flotilla.bench.dataset;

import dev.flotilla.bench.dataset.Server.Reply;
import java.io.IOException;
import java.util.OptionalInt;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/**
 * How many tokens a request may have, input and output together, as far as the server says:
 * llama-server's {@code /props} (one slot's share), vLLM's {@code /v1/models}, a hub's {@code
 * /api/models}.
 */
final class ContextProbe {
  private ContextProbe() {}

  /** The context of that model; empty where nobody says. */
  static OptionalInt tokens(Server server, String model, DatasetLimits limits) {
    int slot =
        ask(server, "/props", limits).path("default_generation_settings").path("n_ctx").asInt(0);
    if (slot > 0) {
      return OptionalInt.of(slot);
    }
    for (JsonNode served : ask(server, "/v1/models", limits).path("data")) {
      if (served.path("id").asString("").equals(model)) {
        int whole = served.path("max_model_len").asInt(0);
        if (whole > 0) {
          return OptionalInt.of(whole);
        }
      }
    }
    for (JsonNode promised : ask(server, "/api/models", limits)) {
      if (promised.path("name").asString("").equals(model)) {
        int promise = promised.path("contextTokens").asInt(0);
        return promise > 0 ? OptionalInt.of(promise) : OptionalInt.empty();
      }
    }
    return OptionalInt.empty();
  }

  private static JsonNode ask(Server server, String path, DatasetLimits limits) {
    try {
      Reply reply = server.get(path, limits.countTime());
      if (reply.ok()) {
        return reply.json();
      }
    } catch (IOException e) {
      // Whoever does not say is not asked again; the load itself will tell what is wrong.
    }
    return MissingNode.getInstance();
  }
}
