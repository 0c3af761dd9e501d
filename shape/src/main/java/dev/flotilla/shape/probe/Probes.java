package dev.flotilla.shape.probe;

import static dev.flotilla.shape.probe.ProbeFields.LONG;
import static dev.flotilla.shape.probe.ProbeFields.NAMED;
import static dev.flotilla.shape.probe.ProbeFields.REQUIRED;
import static dev.flotilla.shape.probe.ProbeFields.SCHEMA;
import static dev.flotilla.shape.probe.ProbeFields.STORY;
import static dev.flotilla.shape.probe.ProbeFields.STREAM;
import static dev.flotilla.shape.probe.ProbeFields.STREAM_WITH_USAGE;
import static dev.flotilla.shape.probe.ProbeFields.TOOLS;
import static dev.flotilla.shape.probe.ProbeFields.TWO_STORIES;
import static dev.flotilla.shape.probe.ProbeFields.WEATHER;
import static dev.flotilla.shape.probe.ProbeFields.body;
import static dev.flotilla.shape.probe.ProbeFields.called;
import static dev.flotilla.shape.probe.ProbeFields.calls;
import static dev.flotilla.shape.probe.ProbeFields.limit;
import static dev.flotilla.shape.probe.ProbeFields.message;
import static dev.flotilla.shape.probe.ProbeFields.messages;
import static dev.flotilla.shape.probe.ProbeFields.user;

import dev.flotilla.shape.dialect.Feature;
import dev.flotilla.shape.probe.Probe.Content;
import dev.flotilla.shape.probe.Probe.Free;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The probes, in the order in which they are asked: what a chat needs first, refusals last.
 *
 * <p>Each is short, in the question and in the answer, and made so that the shape of the reply does
 * not hang on what the model says: a long story under a small limit ends by the limit, four
 * frequent letters as stop strings end an answer soon, a schema leaves two words to choose from.
 * Where the model's words still decide something, {@link Probe#free()} says so. Nothing in them
 * kills an engine that is known.
 */
public final class Probes {
  private static final int WORDS = 6;
  private static final int CALL_TOKENS = 64;

  private static final List<Probe> ALL =
      Stream.of(
              chats(),
              tools(),
              reasoning(),
              structured(),
              limits(),
              options(),
              completions(),
              refusals())
          .flatMap(List::stream)
          .toList();

  private Probes() {}

  /** Those for a model that answers chats and texts. */
  public static List<Probe> all() {
    return ALL;
  }

  /** Those for a model that answers {@code /v1/embeddings} and nothing else. */
  public static List<Probe> embeddings() {
    return EmbeddingProbes.ALL;
  }

  public static Optional<Probe> named(String name) {
    return Stream.concat(ALL.stream(), EmbeddingProbes.ALL.stream())
        .filter(probe -> probe.name().equals(name))
        .findFirst();
  }

  private static List<Probe> chats() {
    return List.of(
        Probe.chat("plain", "an answer in one piece", body(STORY, limit(WORDS)))
            .limit(WORDS)
            .finish("length")
            .gives(Content.TEXT),
        Probe.chat("streamed", "an answer as a stream", body(STORY, limit(WORDS), STREAM))
            .limit(WORDS)
            .streamed()
            .finish("length")
            .gives(Content.TEXT),
        Probe.chat(
                "streamed-usage",
                "a stream that ends with its usage",
                body(STORY, limit(WORDS), STREAM_WITH_USAGE))
            .limit(WORDS)
            .usage()
            .finish("length")
            .gives(Content.TEXT),
        Probe.chat(
                "null-fields",
                "fields that are null, as many clients send them",
                body(
                    user("Hi"),
                    limit(WORDS),
                    "\"temperature\":null,\"top_p\":null,\"n\":null,\"stop\":null,\"seed\":null",
                    "\"stream\":null,\"tools\":null,\"response_format\":null,\"logprobs\":null"))
            .limit(WORDS)
            .gives(Content.TEXT),
        Probe.chat(
                "unicode",
                "characters of several bytes, there and back",
                body(user("Repeat: äöü 日本語 🚀🧪"), "\"temperature\":0", limit(12), STREAM))
            .limit(12)
            .streamed()
            .gives(Content.TEXT),
        Probe.chat(
                "empty-system",
                "an empty system prompt",
                body(
                    messages(message("system", ""), message("user", "Hi")),
                    "\"temperature\":0",
                    limit(WORDS)))
            .free(Free.TEMPLATE)
            .limit(WORDS)
            .gives(Content.TEXT),
        Probe.chat(
                "long-system",
                "a system prompt of 120 words",
                body(
                    messages(
                        message("system", "Be brief. ".repeat(60).strip()), message("user", "Hi")),
                    "\"temperature\":0",
                    limit(WORDS)))
            .free(Free.TEMPLATE)
            .limit(WORDS)
            .gives(Content.TEXT),
        Probe.chat(
                "developer",
                "a message of the developer",
                body(
                    messages(message("developer", "Be brief."), message("user", "Hi")),
                    "\"temperature\":0",
                    limit(WORDS)))
            .free(Free.TEMPLATE)
            .limit(WORDS)
            .gives(Content.TEXT),
        Probe.chat(
                "text-parts",
                "content as a list of texts",
                body(
                    "\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Hi \"},"
                        + "{\"type\":\"text\",\"text\":\"there\"}]}]",
                    "\"temperature\":0",
                    limit(WORDS)))
            .limit(WORDS)
            .gives(Content.TEXT),
        Probe.chat(
                "prefill",
                "an answer whose beginning is given",
                body(
                    messages(message("user", "Count to fifty."), message("assistant", "1, 2, 3,")),
                    "\"temperature\":0",
                    limit(WORDS)))
            .needs(Feature.PREFILL)
            .free(Free.TEMPLATE)
            .limit(WORDS)
            .gives(Content.TEXT));
  }

  private static List<Probe> tools() {
    return List.of(
        Probe.chat(
                "tools-auto",
                "tools that the model may call",
                body(
                    calls("Weather in Rome?"),
                    TOOLS,
                    "\"tool_choice\":\"auto\"",
                    limit(CALL_TOKENS)))
            .limit(CALL_TOKENS)
            .free(Free.CALL)
            .free(Free.CALLS)
            .free(Free.ENDING)
            .finish("stop", "length", "tool_calls")
            .gives(Content.TEXT_OR_CALLS),
        Probe.chat(
                "tools-required",
                "a tool that must be called",
                body(calls("Weather in Rome?"), TOOLS, REQUIRED, limit(CALL_TOKENS)))
            .needs(Feature.FORCED_TOOL_CALL)
            .limit(CALL_TOKENS)
            .free(Free.CALLS)
            .finish("tool_calls")
            .gives(Content.CALLS),
        Probe.chat(
                "tools-named",
                "the one tool that must be called",
                body(calls("Weather in Rome?"), TOOLS, NAMED, limit(CALL_TOKENS)))
            .needs(Feature.FORCED_TOOL_CALL)
            .limit(CALL_TOKENS)
            .finish("stop", "tool_calls")
            .gives(Content.CALLS),
        Probe.chat(
                "tools-parallel",
                "several calls at once, where the model makes them",
                body(
                    calls("Weather in Rome and in Paris?"),
                    TOOLS,
                    REQUIRED,
                    "\"parallel_tool_calls\":true",
                    limit(2 * CALL_TOKENS)))
            .needs(Feature.FORCED_TOOL_CALL)
            .limit(2 * CALL_TOKENS)
            .free(Free.CALLS)
            .finish("tool_calls")
            .gives(Content.CALLS),
        Probe.chat(
                "tools-streamed",
                "a call as a stream",
                body(
                    calls("Weather in Rome?"),
                    TOOLS,
                    REQUIRED,
                    "\"parallel_tool_calls\":false",
                    limit(CALL_TOKENS),
                    STREAM))
            .needs(Feature.FORCED_TOOL_CALL)
            .limit(CALL_TOKENS)
            .streamed()
            .finish("tool_calls")
            .gives(Content.CALLS),
        Probe.chat(
                "tools-none",
                "tools that may not be called",
                body(WEATHER, TOOLS, "\"tool_choice\":\"none\"", limit(WORDS)))
            .limit(WORDS)
            .gives(Content.TEXT),
        Probe.chat(
                "tools-history",
                "a call that was made, with its result",
                body(
                    messages(
                        message("user", "Weather in Rome?"),
                        called(1, "Rome", "Sun"),
                        message("assistant", "Sun."),
                        message("user", "Tell a long story about a river.")),
                    TOOLS,
                    "\"tool_choice\":\"none\",\"temperature\":0",
                    limit(WORDS)))
            .limit(WORDS)
            .gives(Content.TEXT));
  }

  private static List<Probe> reasoning() {
    String on = "\"chat_template_kwargs\":{\"enable_thinking\":true}";
    String off = "\"chat_template_kwargs\":{\"enable_thinking\":false}";
    return List.of(
        Probe.chat("reasoning-on", "a thought before the answer", body(STORY, on, limit(16)))
            .limit(16)
            .gives(Content.TEXT),
        Probe.chat(
                "reasoning-streamed", "a thought as a stream", body(STORY, on, limit(16), STREAM))
            .limit(16)
            .streamed()
            .gives(Content.TEXT),
        Probe.chat("reasoning-off", "no thought, on request", body(STORY, off, limit(WORDS)))
            .limit(WORDS)
            .gives(Content.TEXT));
  }

  private static List<Probe> structured() {
    return List.of(
        Probe.chat(
                "json-schema",
                "an answer by a JSON schema",
                body(WEATHER, SCHEMA, limit(CALL_TOKENS)))
            .needs(Feature.JSON_SCHEMA)
            .limit(CALL_TOKENS)
            .finish("stop")
            .gives(Content.JSON_OF_SCHEMA),
        Probe.chat(
                "json-schema-streamed",
                "an answer by a JSON schema, as a stream",
                body(WEATHER, SCHEMA, limit(CALL_TOKENS), STREAM))
            .needs(Feature.JSON_SCHEMA)
            .limit(CALL_TOKENS)
            .streamed()
            .finish("stop")
            .gives(Content.JSON_OF_SCHEMA),
        Probe.chat(
                "json-object",
                "an answer that is some JSON",
                body(
                    user("Describe Paris as JSON."),
                    "\"temperature\":0,\"response_format\":{\"type\":\"json_object\"}",
                    limit(12)))
            .needs(Feature.JSON_OBJECT)
            .limit(12)
            .gives(Content.JSON));
  }

  private static List<Probe> limits() {
    String stop = "\"stop\":[\"a\",\"e\",\"i\",\"o\"]";
    return List.of(
        Probe.chat("stop", "an answer that stop strings end", body(STORY, stop, limit(24)))
            .needs(Feature.STOP_STRINGS)
            .limit(24)
            .stops("a", "e", "i", "o")
            .finish("stop")
            .gives(Content.TEXT),
        Probe.chat(
                "stop-streamed",
                "a stream that stop strings end",
                body(STORY, stop, limit(24), STREAM))
            .needs(Feature.STOP_STRINGS)
            .limit(24)
            .streamed()
            .stops("a", "e", "i", "o")
            .finish("stop")
            .gives(Content.TEXT),
        Probe.chat(
                "length",
                "the limit by its newer name, max_completion_tokens",
                body(STORY, "\"max_completion_tokens\":4"))
            .limit(4)
            .finish("length")
            .gives(Content.TEXT));
  }

  private static List<Probe> options() {
    return List.of(
        Probe.chat(
                "logprobs",
                "log-probabilities of the answer's tokens",
                body(STORY, limit(4), "\"logprobs\":true,\"top_logprobs\":2"))
            .needs(Feature.LOGPROBS)
            .limit(4)
            .logprobs()
            .finish("length")
            .gives(Content.TEXT),
        Probe.chat(
                "logprobs-streamed",
                "log-probabilities in a stream",
                body(STORY, limit(4), "\"logprobs\":true,\"top_logprobs\":2,\"stream\":true"))
            .needs(Feature.STREAMED_LOGPROBS)
            .limit(4)
            .streamed()
            .logprobs()
            .finish("length")
            .gives(Content.TEXT),
        Probe.chat("n", "two answers", body(TWO_STORIES, limit(4)))
            .needs(Feature.SEVERAL_ANSWERS)
            .limit(4)
            .choices(2)
            .finish("length")
            .gives(Content.TEXT),
        Probe.chat(
                "n-streamed",
                "two answers in one stream",
                body(TWO_STORIES, limit(4), STREAM_WITH_USAGE))
            .needs(Feature.SEVERAL_ANSWERS)
            .limit(4)
            .choices(2)
            .usage()
            .finish("length")
            .gives(Content.TEXT),
        Probe.chat(
                "unknown-field",
                "a field that nobody knows, which passes",
                body(STORY, limit(WORDS), "\"x_unknown_field\":{\"a\":[1]}"))
            .limit(WORDS)
            .finish("length")
            .gives(Content.TEXT));
  }

  private static List<Probe> completions() {
    String prompt = "\"prompt\":\"Once upon a time, in a land far away,\",\"temperature\":0";
    return List.of(
        Probe.completion("completion", "a plain completion", body(prompt, limit(WORDS)))
            .limit(WORDS)
            .finish("length")
            .gives(Content.TEXT),
        Probe.completion(
                "completion-streamed",
                "a plain completion as a stream",
                body(prompt, limit(WORDS), STREAM_WITH_USAGE))
            .limit(WORDS)
            .usage()
            .finish("length")
            .gives(Content.TEXT));
  }

  private static List<Probe> refusals() {
    return List.of(
        Probe.chat("no-json", "a body that is no JSON", "{\"model\":\"$MODEL\",\"messages\":[")
            .isRefused(400),
        Probe.chat("no-messages", "a chat without messages", body(limit(WORDS))).isRefused(400),
        Probe.chat("empty-messages", "a chat of no messages", body("\"messages\":[]", limit(WORDS)))
            .isRefused(400),
        Probe.chat(
                "bad-messages",
                "messages of a wrong type",
                body("\"messages\":\"Hi\"", limit(WORDS)))
            .isRefused(400),
        Probe.chat("bad-type", "a limit of a wrong type", body(STORY, "\"max_tokens\":\"many\""))
            .isRefused(400),
        Probe.chat(
                "bad-format",
                "a response_format that there is not",
                body(STORY, limit(WORDS), "\"response_format\":{\"type\":\"verse\"}"))
            .isRefused(400),
        Probe.chat(
                "unknown-model",
                "a model that there is not",
                "{\"model\":\"no-such-model\"," + STORY + "," + limit(WORDS) + "}")
            .isRefused(404, "model_not_found"),
        Probe.chat("too-long", "a prompt longer than the context", body(LONG, limit(4)))
            .isRefused(400, "context_length_exceeded"),
        Probe.chat(
                "too-long-streamed",
                "a prompt longer than the context, streamed",
                body(LONG, limit(4), STREAM))
            .streamed()
            .isRefused(400, "context_length_exceeded"));
  }
}
