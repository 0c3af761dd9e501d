package dev.flotilla.shape.probe;

import dev.flotilla.shape.dialect.Feature;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * One question to a server whose answer shows a part of its shape, whatever the model says.
 *
 * @param name its name, in lower-case words joined by hyphens
 * @param asks what it looks at, in words for people
 * @param form which part of the API it asks
 * @param streamed whether it asks for a stream
 * @param usageAsked whether it asks the stream for a usage
 * @param body the request: JSON in which {@code $MODEL} stands for the model's name and {@code
 *     $LONG} for more words than the context has tokens
 * @param features what it asks for that not every engine has
 * @param free what the model's own words decide, so that two right servers may differ in it
 * @param tokensMax the limit that it sets to each answer, 0 where it gets none
 * @param choices answers that it asks for
 * @param stops the stop strings that it sets
 * @param wanted what is to come of it
 */
public record Probe(
    String name,
    String asks,
    Form form,
    boolean streamed,
    boolean usageAsked,
    String body,
    Set<Feature> features,
    Set<Free> free,
    int tokensMax,
    int choices,
    List<String> stops,
    Wanted wanted) {

  public Probe {
    features = Set.copyOf(features);
    free = Set.copyOf(free);
    stops = List.copyOf(stops);
  }

  /** A part of the API. */
  public enum Form {
    CHAT("/v1/chat/completions"),
    COMPLETION("/v1/completions"),
    EMBEDDING("/v1/embeddings");

    private final String path;

    Form(String path) {
      this.path = path;
    }

    public String path() {
      return path;
    }
  }

  /** What a model may decide by what it says. */
  public enum Free {
    /** Whether it ends by itself or at the limit, and so whether words follow a thought. */
    ENDING,
    /** Whether it calls a tool or answers. */
    CALL,
    /** How many tools it calls. */
    CALLS,
    /** Whether its template has such messages at all: where it has not, the request is refused. */
    TEMPLATE,
    /** Whether its vectors can have another length: where they can't, the request is refused. */
    DIMENSIONS
  }

  /** What is to come of a probe. */
  public sealed interface Wanted {}

  /**
   * An answer.
   *
   * @param content what it is made of
   * @param finishes the finish reasons that are right
   * @param logprobs whether log-probabilities are to be in it
   */
  public record Answered(Content content, Set<String> finishes, boolean logprobs)
      implements Wanted {
    public Answered {
      finishes = Set.copyOf(finishes);
    }
  }

  /**
   * Vectors.
   *
   * @param vectors how many
   * @param repeats whether the first text is the last one, too
   * @param numbers of each vector, 0 where the model decides it
   * @param base64 whether they are bytes in base64, else numbers
   */
  public record Embedded(int vectors, boolean repeats, int numbers, boolean base64)
      implements Wanted {}

  /**
   * A refusal with OpenAI's error body.
   *
   * @param status the HTTP status that is right
   * @param code the error's code, where the API's clients go by it
   */
  public record Refused(int status, Optional<String> code) implements Wanted {}

  /** What an answer is made of. */
  public enum Content {
    TEXT,
    CALLS,
    TEXT_OR_CALLS,
    /** Text that is JSON, or its beginning where the limit cut it. */
    JSON,
    /** Text that is JSON of the probe's schema. */
    JSON_OF_SCHEMA
  }

  /** Whether it can only be asked where the length of the context is known. */
  public boolean needsContext() {
    return body.contains("$LONG");
  }

  /** Whether a promise without tool calls leaves it out. */
  public boolean needsTools() {
    return body.contains("\"tools\":[");
  }

  /**
   * The request for that server.
   *
   * @throws IllegalStateException if the context's length is needed and not known
   */
  public ProbeCall call(ProbeTarget target) {
    if (needsContext() && target.contextTokens() <= 0) {
      throw new IllegalStateException("probe " + name + " needs the length of the context");
    }
    String quoted = Json.MAPPER.writeValueAsString(target.model());
    String text = body.replace("$MODEL", quoted.substring(1, quoted.length() - 1));
    return new ProbeCall(
        form.path(),
        needsContext() ? text.replace("$LONG", "word ".repeat(target.contextTokens())) : text);
  }

  static Builder chat(String name, String asks, String body) {
    return new Builder(name, asks, Form.CHAT, body);
  }

  static Builder completion(String name, String asks, String body) {
    return new Builder(name, asks, Form.COMPLETION, body);
  }

  static Builder embedding(String name, String asks, String body) {
    return new Builder(name, asks, Form.EMBEDDING, body);
  }

  /** Puts a probe together; what is not said is plain. */
  static final class Builder {
    private final String name;
    private final String asks;
    private final Form form;
    private final String body;
    private final Set<Feature> features = EnumSet.noneOf(Feature.class);
    private final Set<Free> free = EnumSet.noneOf(Free.class);
    private final Set<String> finishes = new LinkedHashSet<>();
    private List<String> stops = List.of();
    private boolean streamed;
    private boolean usageAsked;
    private boolean logprobs;
    private int tokensMax;
    private int choices = 1;

    private Builder(String name, String asks, Form form, String body) {
      this.name = name;
      this.asks = asks;
      this.form = form;
      this.body = body;
    }

    Builder streamed() {
      streamed = true;
      return this;
    }

    Builder usage() {
      usageAsked = true;
      return streamed();
    }

    Builder needs(Feature feature) {
      features.add(feature);
      return this;
    }

    Builder free(Free what) {
      free.add(what);
      return this;
    }

    Builder limit(int tokens) {
      tokensMax = tokens;
      return this;
    }

    Builder choices(int count) {
      choices = count;
      return this;
    }

    Builder stops(String... strings) {
      stops = List.of(strings);
      return this;
    }

    Builder logprobs() {
      logprobs = true;
      return this;
    }

    Builder finish(String... reasons) {
      finishes.addAll(List.of(reasons));
      return this;
    }

    Probe gives(Content content) {
      if (finishes.isEmpty()) {
        finishes.addAll(Set.of("stop", "length"));
        free.add(Free.ENDING);
      }
      return made(new Answered(content, finishes, logprobs));
    }

    Probe gives(Embedded vectors) {
      return made(vectors);
    }

    Probe isRefused(int status) {
      return made(new Refused(status, Optional.empty()));
    }

    Probe isRefused(int status, String code) {
      return made(new Refused(status, Optional.of(code)));
    }

    private Probe made(Wanted wanted) {
      return new Probe(
          name,
          asks,
          form,
          streamed,
          usageAsked,
          body.strip(),
          features,
          free,
          tokensMax,
          choices,
          stops,
          wanted);
    }
  }
}
