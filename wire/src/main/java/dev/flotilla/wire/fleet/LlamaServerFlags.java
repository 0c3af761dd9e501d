package dev.flotilla.wire.fleet;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The options of llama-server that a recipe's {@code args} may not set, because the promise or
 * another key of the recipe sets them. The hub refuses them when a file is applied and the agent
 * refuses them again before a start, both from this one table.
 *
 * <p>Source of the spellings: {@code llama-server --help}, long and short, positive and negative.
 */
public final class LlamaServerFlags {

  /** Option name without dashes to the key of {@code fleet.yaml} (or the part) that owns it. */
  public static final Map<String, String> OWNED;

  static {
    Map<String, String> owned = new LinkedHashMap<>();
    // A unified cache lets one request eat the context that was promised to another.
    own(owned, "promise.context", "ctx-size", "c", "kv-unified", "kvu", "no-kv-unified", "no-kvu");
    own(owned, "promise.context", "fit", "fit-ctx", "fitc");
    own(owned, "slots", "parallel", "np");
    own(owned, "promise.reasoning", "reasoning-format", "reasoning", "rea", "reasoning-budget");
    own(owned, "promise.tools", "jinja", "no-jinja", "skip-chat-parsing", "no-skip-chat-parsing");
    own(owned, "embeddings", "embeddings", "embedding", "pooling", "reranking", "rerank");
    own(owned, "source", "model", "m", "model-url", "mu", "hf-repo", "hf", "hfr", "hf-file", "hff");
    own(owned, "source", "docker-repo", "dr", "models-dir", "models-preset", "models-max");
    own(owned, "source", "models-autoload", "no-models-autoload", "offline", "hf-token", "hft");
    own(owned, "the model's name", "alias", "a");
    own(owned, "the agent", "host", "port", "reuse-port", "api-prefix", "api-key", "api-key-file");
    own(owned, "the agent", "tags", "metrics", "slots", "no-slots", "props", "log-colors");
    own(owned, "the agent", "ui", "no-ui", "webui", "no-webui", "ssl-key-file", "ssl-cert-file");
    own(owned, "the agent", "sleep-idle-seconds", "log-file", "log-disable", "help", "h", "usage");
    own(owned, "the agent", "version", "cache-list", "cl", "completion-bash");
    OWNED = Collections.unmodifiableMap(owned);
  }

  private LlamaServerFlags() {}

  /** Who sets the option, where it is not the recipe's {@code args}. */
  public static Optional<String> owner(String name) {
    return Optional.ofNullable(OWNED.get(name));
  }

  private static void own(Map<String, String> owned, String owner, String... names) {
    for (String name : names) {
      owned.put(name, owner);
    }
  }
}
