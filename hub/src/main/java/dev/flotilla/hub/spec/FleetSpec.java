package dev.flotilla.hub.spec;

import dev.flotilla.shape.dialect.Sampling;
import dev.flotilla.wire.fleet.WorkerSpec.Chat;
import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A validated {@code fleet.yaml}: what the fleet serves. Every value in it is enforced by
 * something.
 */
public record FleetSpec(
    List<Model> models, List<Backend> backends, List<Route> routes, Limits limits) {

  public FleetSpec {
    models = List.copyOf(models);
    backends = List.copyOf(backends);
    routes = List.copyOf(routes);
  }

  /**
   * A public name with its promise.
   *
   * @param replicas workers wanted in the whole fleet, 1 to {@value #REPLICAS_MAX}
   * @param recipes the first whose condition holds on a node is used there
   */
  public record Model(String name, Promise promise, int replicas, List<Recipe> recipes) {
    public static final int REPLICAS_MAX = 64;

    public Model {
      recipes = List.copyOf(recipes);
    }
  }

  /**
   * What the name guarantees on every worker.
   *
   * @param contextTokens tokens of one request, prompt and answer together
   * @param minDecode tokens of an answer that a request gets each second, at least; 0 for no floor
   * @param sampling how tokens are drawn where a request does not say
   */
  public record Promise(
      int contextTokens, Reasoning reasoning, boolean tools, double minDecode, Sampling sampling) {
    public static final int CONTEXT_TOKENS_MIN = 64;
    public static final int CONTEXT_TOKENS_MAX = 16 << 20;
    public static final double MIN_DECODE_MAX = 100_000;

    /** A promise without a floor, which draws as is usual. */
    public Promise(int contextTokens, Reasoning reasoning, boolean tools) {
      this(contextTokens, reasoning, tools, 0, Sampling.DEFAULTS);
    }
  }

  /**
   * How one engine serves the model.
   *
   * @param slots requests that run at once on one worker, 1 to {@value #SLOTS_MAX}, or {@link
   *     dev.flotilla.wire.fleet.WorkerSpec#AUTO_SLOTS}
   * @param embeddings whether the worker serves {@code /v1/embeddings} and nothing else
   * @param chat {@code tool-parser}, {@code reasoning-parser} and {@code chat-template}
   * @param args extra engine options, name without dashes to value
   */
  public record Recipe(
      String engine,
      When when,
      String source,
      int slots,
      boolean embeddings,
      Chat chat,
      Map<String, String> args) {
    public static final int SLOTS_MAX = 256;

    /** A recipe that leaves chats to the model's own file. */
    public Recipe(
        String engine,
        When when,
        String source,
        int slots,
        boolean embeddings,
        Map<String, String> args) {
      this(engine, when, source, slots, embeddings, Chat.OWN, args);
    }

    public Recipe {
      args = java.util.Collections.unmodifiableMap(new java.util.LinkedHashMap<>(args));
    }
  }

  /** On which nodes a recipe is used: every list that is not empty must hold the node's value. */
  public record When(List<String> os, List<String> arch, List<String> gpu, List<String> node) {
    public static final When ANYWHERE = new When(List.of(), List.of(), List.of(), List.of());

    public When {
      os = List.copyOf(os);
      arch = List.copyOf(arch);
      gpu = List.copyOf(gpu);
      node = List.copyOf(node);
    }
  }

  /**
   * An OpenAI-compatible server without an agent.
   *
   * @param url up to and including {@code /v1}
   * @param model the name that this server knows the model by
   * @param keyVariable environment variable of the hub that holds the bearer token ({@code key:
   *     env:NAME})
   */
  public record Backend(
      String name, URI url, String model, int slots, Optional<String> keyVariable) {}

  /**
   * A public name over several places: requests for any of {@code models} go to the fastest of
   * {@code to}.
   */
  public record Route(String name, List<String> models, List<Destination> to) {
    public Route {
      models = List.copyOf(models);
      to = List.copyOf(to);
    }
  }

  /** One place in a route. */
  public sealed interface Destination {
    String name();

    /** All serving workers of the model. */
    record ToModel(String name) implements Destination {}

    /** The backend. */
    record ToBackend(String name) implements Destination {}
  }

  /**
   * What the gateway admits.
   *
   * @param queuePerModel requests that may wait for one name
   * @param queueWait how long one may wait
   * @param requestBodyBytes largest request body
   * @param proofTokens tokens of one answer while a worker's speed is measured
   * @param proofLevel how long one level of that may take at most
   */
  public record Limits(
      int queuePerModel,
      Duration queueWait,
      long requestBodyBytes,
      int proofTokens,
      Duration proofLevel) {
    public static final Limits DEFAULT =
        new Limits(256, Duration.ofMinutes(2), 32L * 1024 * 1024, 256, Duration.ofSeconds(15));
  }
}
