package dev.flotilla.wire.fleet;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Which engines a recipe may name, and which of their options its {@code args} may not set, because
 * the promise or another key of the recipe sets them. The hub refuses them when a file is applied,
 * and the agent refuses them again before a start.
 */
public final class EngineFlags {
  public static final String LLAMA_SERVER = "llama-server";
  public static final String VLLM = "vllm";
  public static final String MLX_LM = "mlx-lm";
  public static final String BUILTIN = "builtin";

  /** The engines' words in a recipe. */
  public static final List<String> ENGINES = List.of(BUILTIN, LLAMA_SERVER, VLLM, MLX_LM);

  /** vLLM 0.32's {@code vllm serve --help=all}. */
  static final Map<String, String> VLLM_OWNED =
      Map.ofEntries(
          Map.entry("max-model-len", "promise.context"),
          Map.entry("max-num-seqs", "slots"),
          Map.entry("reasoning-parser", "reasoning-parser"),
          Map.entry("tool-call-parser", "tool-parser"),
          Map.entry("enable-auto-tool-choice", "promise.tools"),
          Map.entry("no-enable-auto-tool-choice", "promise.tools"),
          Map.entry("chat-template", "chat-template"),
          Map.entry("runner", "embeddings"),
          Map.entry("convert", "embeddings"),
          Map.entry("pooler-config", "embeddings"),
          Map.entry("model", "source"),
          Map.entry("revision", "source"),
          Map.entry("code-revision", "source"),
          Map.entry("download-dir", "source"),
          Map.entry("hf-token", "source"),
          Map.entry("served-model-name", "the model's name"),
          Map.entry("host", "the agent"),
          Map.entry("port", "the agent"),
          Map.entry("uds", "the agent"),
          Map.entry("api-key", "the agent"),
          Map.entry("root-path", "the agent"),
          Map.entry("headless", "the agent"),
          Map.entry("grpc", "the agent"),
          Map.entry("grpc-port", "the agent"),
          Map.entry("config", "the agent"),
          Map.entry("ssl-keyfile", "the agent"),
          Map.entry("ssl-certfile", "the agent"),
          Map.entry("ssl-ca-certs", "the agent"),
          Map.entry("ssl-cert-reqs", "the agent"),
          Map.entry("ssl-ciphers", "the agent"),
          Map.entry("enable-ssl-refresh", "the agent"),
          Map.entry("disable-fastapi-docs", "the agent"),
          Map.entry("disable-access-log-for-endpoints", "the agent"),
          Map.entry("help", "the agent"));

  /** mlx-lm 0.32's {@code mlx_lm.server --help}. */
  static final Map<String, String> MLX_LM_OWNED =
      Map.ofEntries(
          Map.entry("max-tokens", "promise.context"),
          Map.entry("decode-concurrency", "slots"),
          Map.entry("prompt-concurrency", "slots"),
          Map.entry("chat-template", "chat-template"),
          Map.entry("use-default-chat-template", "chat-template"),
          Map.entry("model", "source"),
          Map.entry("host", "the agent"),
          Map.entry("port", "the agent"),
          Map.entry("allowed-origins", "the agent"),
          Map.entry("help", "the agent"));

  /** Options of {@code flotilla serve}. */
  static final Map<String, String> BUILTIN_OWNED =
      Map.ofEntries(
          Map.entry("context", "promise.context"),
          Map.entry("slots", "slots"),
          Map.entry("reasoning-format", "promise.reasoning"),
          Map.entry("chat-template", "chat-template"),
          Map.entry("name", "the model's name"),
          Map.entry("alias", "the model's name"),
          Map.entry("listen", "the agent"),
          Map.entry("api-key-file", "the agent"),
          Map.entry("allow-no-keys", "the agent"),
          Map.entry("kernels", "the agent"),
          Map.entry("help", "the agent"),
          Map.entry("version", "the agent"));

  /** What a recipe's {@code args} may set of the built-in engine; it has nothing else. */
  public static final List<String> BUILTIN_OPTIONS =
      List.of("kv-type", "memory", "memory-fraction", "threads", "verbose");

  private EngineFlags() {}

  /** Whether the engine reads one GGUF file, and not a folder. */
  public static boolean readsGguf(String engine) {
    return engine.equals(LLAMA_SERVER) || engine.equals(BUILTIN);
  }

  /**
   * Who sets the option, where it is not the recipe's {@code args}.
   *
   * <p>vLLM and mlx-lm take an option by any beginning of its name that fits no other, and vLLM
   * takes underscores for dashes; so whatever could be read as an owned option counts as one.
   *
   * @param name without dashes before it
   */
  public static Optional<String> owner(String engine, String name) {
    return switch (engine) {
      case VLLM -> abbreviated(VLLM_OWNED, name.replace('_', '-'));
      case MLX_LM -> abbreviated(MLX_LM_OWNED, name);
      case BUILTIN -> Optional.ofNullable(BUILTIN_OWNED.get(name));
      default -> LlamaServerFlags.owner(name);
    };
  }

  private static Optional<String> abbreviated(Map<String, String> owned, String name) {
    String exact = owned.get(name);
    return exact != null
        ? Optional.of(exact)
        : owned.keySet().stream()
            .filter(flag -> flag.startsWith(name))
            .sorted()
            .findFirst()
            .map(owned::get);
  }
}
