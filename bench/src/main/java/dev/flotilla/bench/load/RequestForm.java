package dev.flotilla.bench.load;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.flotilla.bench.dataset.Prompt;
import dev.flotilla.bench.dataset.Prompt.Input;
import java.util.LinkedHashMap;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * How a prompt becomes the body of a request.
 *
 * <p>Every request asks for a stream, for its usage, and for temperature 0, since what is measured
 * should be the same work each time. It also asks vLLM to count along ({@code
 * continuous_usage_stats}): a chunk may hold several tokens, and nobody else can say how many.
 * llama-server would do the same for {@code timings_per_token}, which makes each of its events
 * three times as long though it sends one token in each; who wants that says it in {@code extra}.
 *
 * @param endpoint which form
 * @param path below the API's base; mostly the endpoint's own
 * @param model the name that requests carry
 * @param ignoreEos for all prompts, whatever they say themselves
 * @param continuousUsage whether vLLM's count in each chunk is asked for
 * @param extra fields that are added, or put in place of those above; {@code null} takes one out
 */
public record RequestForm(
    Endpoint endpoint,
    String path,
    String model,
    boolean ignoreEos,
    boolean continuousUsage,
    Map<String, JsonNode> extra) {

  public RequestForm {
    if (!path.startsWith("/")) {
      throw new IllegalArgumentException("a path begins with /");
    }
    extra = Map.copyOf(extra);
  }

  /** The endpoint's own path, and nothing added. */
  public RequestForm(Endpoint endpoint, String model) {
    this(endpoint, endpoint.path(), model, false, true, Map.of());
  }

  /**
   * The fields of a JSON object.
   *
   * @throws IllegalArgumentException if the text is none
   */
  public static Map<String, JsonNode> fields(String json) {
    try {
      JsonNode root = JsonMapper.shared().readTree(json);
      if (root.isObject()) {
        Map<String, JsonNode> fields = new LinkedHashMap<>();
        root.properties().forEach(field -> fields.put(field.getKey(), field.getValue()));
        return fields;
      }
    } catch (JacksonException _) {
      // Said below, as for JSON that is no object.
    }
    throw new IllegalArgumentException("that is no JSON object");
  }

  /** The body for a prompt, in UTF-8. */
  public byte[] body(Prompt prompt) {
    Map<String, String> fields = new LinkedHashMap<>();
    fields.put("model", quoted(model));
    input(prompt.input(), fields);
    fields.put("max_tokens", Integer.toString(prompt.maxTokens()));
    fields.put("temperature", "0");
    fields.put("stream", "true");
    fields.put(
        "stream_options",
        continuousUsage
            ? "{\"include_usage\":true,\"continuous_usage_stats\":true}"
            : "{\"include_usage\":true}");
    if (ignoreEos || prompt.ignoreEos()) {
      fields.put("ignore_eos", "true");
    }
    if (extra.containsKey("max_completion_tokens")) {
      // The newer name of the same limit: servers refuse both together.
      fields.remove("max_tokens");
    }
    extra.forEach((name, value) -> {
      if (value.isNull()) {
        fields.remove(name);
      } else {
        fields.put(name, value.toString());
      }
    });
    StringBuilder body = new StringBuilder("{");
    fields.forEach((name, value) -> {
      body.append(body.length() == 1 ? "" : ",").append(quoted(name)).append(':').append(value);
    });
    return body.append('}').toString().getBytes(UTF_8);
  }

  private void input(Input input, Map<String, String> fields) {
    switch (input) {
      case Input.Text(String text) when endpoint == Endpoint.OPENAI ->
          fields.put("prompt", quoted(text));
      case Input.Text(String text) ->
          fields.put("messages", "[{\"role\":\"user\",\"content\":" + quoted(text) + "}]");
      case Input.Messages(String messages, var tools) -> {
        if (endpoint == Endpoint.OPENAI) {
          throw new IllegalArgumentException(
              "a conversation can't be asked of the completions endpoint; use openai-chat");
        }
        fields.put("messages", messages);
        tools.ifPresent(list -> fields.put("tools", list));
      }
    }
  }

  private static String quoted(String text) {
    return JsonMapper.shared().writeValueAsString(text);
  }
}
