package dev.flotilla.shape.request;

import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.shape.dialect.Feature;
import dev.flotilla.shape.dialect.Honour;
import dev.flotilla.wire.openai.RequestScan.Endpoint;
import dev.flotilla.wire.openai.RequestScan.Field;
import dev.flotilla.wire.openai.RequestScan.Scanned;
import dev.flotilla.wire.text.Json;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/**
 * What a request asks for, beyond what every reader of it must know: read once, before a place is
 * sought, and never changed.
 *
 * @param endpoint which route it came by
 * @param scanned the body, and what lies where in it
 * @param features what it asks for that not every engine has
 * @param answers how many answers the reply has: one for each prompt, or {@code n}
 * @param prompts texts or lists of tokens in the list that is the prompt; 0 where it is no list of
 *     such
 * @param stop strings that end an answer, at most {@value #STOPS_MAX}
 * @param toolChoice which tool is to be called
 * @param oneToolCall whether an answer may call one tool only ({@code parallel_tool_calls} false)
 * @param topLogprobs alternatives wanted with each token; -1 where no log-probabilities are
 * @param greedy whether always the likeliest token is wanted ({@code temperature} 0)
 * @param keptExtras fields of an engine's own that the request asks for by name, such as {@code
 *     timings}: they are left in the reply
 */
public record Asked(
    Endpoint endpoint,
    Scanned scanned,
    Set<Feature> features,
    int answers,
    int prompts,
    List<String> stop,
    ToolChoice toolChoice,
    boolean oneToolCall,
    int topLogprobs,
    boolean greedy,
    Set<String> keptExtras) {

  /** Prompts of one request. */
  public static final int PROMPTS_MAX = 64;

  /** Stop strings of one request. */
  public static final int STOPS_MAX = 16;

  /** Characters of one stop string. */
  public static final int STOP_CHARS_MAX = 256;

  /** Alternatives that may be asked for with each token, as OpenAI limits them. */
  public static final int TOP_LOGPROBS_MAX = 20;

  /** Which tool is to be called. */
  public enum ToolChoice {
    /** Nothing is said, or {@code auto}: whatever the model thinks right. */
    FREE,
    /** None, whatever is offered. */
    NONE,
    /** Some tool, or a certain one. */
    FORCED
  }

  public Asked {
    features = Set.copyOf(features);
    stop = List.copyOf(stop);
    keptExtras = Set.copyOf(keptExtras);
  }

  /**
   * Reads the body.
   *
   * @throws RequestRefused where some field holds what no engine can make sense of
   */
  public static Asked of(Endpoint endpoint, Scanned scanned) throws RequestRefused {
    return new AskedReader(endpoint, scanned).read();
  }

  /** A field of the body; a missing one where it is absent or null. */
  public JsonNode value(String name) {
    return value(scanned, name);
  }

  static JsonNode value(Scanned scanned, String name) {
    Field field = scanned.field(name);
    return field == null || field.isNull()
        ? MissingNode.getInstance()
        : Json.MAPPER.readTree(
            scanned.body(), field.valueFrom(), field.valueTo() - field.valueFrom());
  }

  /** Whether the reply is to be streamed to the client. */
  public boolean streamed() {
    return endpoint != Endpoint.EMBEDDINGS && scanned.stream();
  }

  /** Whether the reply can hold tool calls. */
  public boolean offersTools() {
    return scanned.tools() && toolChoice != ToolChoice.NONE;
  }

  /** Whether log-probabilities are wanted. */
  public boolean logprobs() {
    return topLogprobs >= 0;
  }

  /** Whether the hub looks for the stop strings itself where this engine serves. */
  public boolean hubStops(Dialect dialect) {
    return !stop.isEmpty() && dialect.honours(Feature.STOP_STRINGS) == Honour.BY_HUB;
  }

  /**
   * Whether a worker of this engine is asked for a stream: always where the client wants one, and
   * where the engine notices only in a stream that nobody wants its answer any more, or where the
   * hub is to stop it.
   */
  public boolean streamedBy(Dialect dialect) {
    return streamed()
        || (endpoint != Endpoint.EMBEDDINGS && dialect == Dialect.MLX_LM && !logprobs());
  }
}
