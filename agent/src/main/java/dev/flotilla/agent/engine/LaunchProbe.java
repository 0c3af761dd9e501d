package dev.flotilla.agent.engine;

import dev.flotilla.agent.engine.EngineAdapter.Launch;
import dev.flotilla.agent.engine.EngineAdapter.Readiness;
import dev.flotilla.wire.fleet.WorkerSpec;
import dev.flotilla.wire.text.Counted;
import java.io.IOException;
import java.net.ConnectException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * Asks a llama-server whether it is a certain launch, ready, and as promised.
 *
 * <p>That something answers proves nothing: a server that was left over may hold the port. A launch
 * is proved by its key: with it {@code /props} answers, and without it it does not. A server that
 * asks for no key, or that has another one, is not ours. The tag in {@code /v1/models}, which this
 * launch was started with, must be there where the server shows tags at all.
 */
final class LaunchProbe {
  private LaunchProbe() {}

  /** A word that only this launch has, and that does not give its key away. */
  static String tag(Launch launch) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256")
              .digest(launch.apiKey().getBytes(StandardCharsets.UTF_8));
      return "run-" + launch.generation() + "-" + HexFormat.of().formatHex(digest, 0, 6);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  static Readiness probe(WorkerSpec spec, int port, Launch launch) {
    try {
      int health = EngineHttp.get(port, "/health", "").status();
      if (health == 503) {
        return new Readiness.NotYet("loading the model");
      }
      if (health != 200) {
        return stranger(port, "GET /health gave " + health);
      }
      EngineHttp.Answer open = EngineHttp.get(port, "/props", "");
      if (open.status() == 503) {
        return new Readiness.NotYet("loading the model");
      }
      if (open.status() != 401) {
        return stranger(port, "it asks for no key");
      }
      EngineHttp.Answer props = EngineHttp.get(port, "/props", launch.apiKey());
      if (props.status() != 200) {
        return stranger(port, "it does not know this launch's key");
      }
      return judge(
          spec,
          port,
          launch,
          props.json(),
          EngineHttp.get(port, "/v1/models", launch.apiKey()).json());
    } catch (ConnectException e) {
      return new Readiness.NotYet("nothing listens on port " + port + " yet");
    } catch (IOException | JacksonException e) {
      return new Readiness.NotYet("no whole answer on port " + port + ": " + e.getMessage());
    }
  }

  private static Readiness judge(
      WorkerSpec spec, int port, Launch launch, JsonNode props, JsonNode models) {
    JsonNode tags = models.path("data").path(0).path("tags");
    if (!tags.isEmpty() && tags.valueStream().noneMatch(t -> t.asString("").equals(tag(launch)))) {
      return stranger(port, "it has the tags of another launch");
    }
    String alias = props.path("model_alias").asString("");
    if (!alias.equals(spec.model())) {
      return stranger(port, "it serves the name '%s', not '%s'".formatted(alias, spec.model()));
    }
    int slots = props.path("total_slots").asInt(0);
    if (slots != spec.slots()) {
      return new Readiness.Wrong(
          "The engine has %s, asked for: %d.".formatted(Counted.of(slots, "slot"), spec.slots()));
    }
    int context = props.path("default_generation_settings").path("n_ctx").asInt(0);
    if (context < spec.contextTokens()) {
      return new Readiness.Wrong(
          "The engine gives %,d tokens to a request, promise.context is %,d."
              .formatted(context, spec.contextTokens()));
    }
    return new Readiness.Ready(props.path("build_info").asString(""), context, slots);
  }

  private static Readiness stranger(int port, String why) {
    return new Readiness.Stranger("Something else answers on port %d: %s.".formatted(port, why));
  }
}
