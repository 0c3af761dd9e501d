package dev.flotilla.engine.serve;

import dev.flotilla.engine.Ending;
import dev.flotilla.engine.Engine;
import dev.flotilla.engine.Generation;
import dev.flotilla.engine.sample.StopText;
import dev.flotilla.gguf.tokenizer.Detokenizer;
import dev.flotilla.gguf.tokenizer.Tokenizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads one answer as text while the engine writes it: tokens to characters, stop texts found,
 * thoughts and calls told apart. For the request's thread.
 */
final class AnswerReader {
  private final Engine engine;
  private final Generation generation;
  private final Tokenizer tokenizer;
  private final int index;
  private final Detokenizer characters;
  private final StopText stops;
  private final Optional<ReplyParser> parser;
  private final int[] ends;
  private final List<TokenLogprob> pending = new ArrayList<>();
  private int tokens;
  private @Nullable String finish;

  /**
   * At the beginning of an answer.
   *
   * @param index the answer's place in the reply
   * @param showControl whether control tokens are text: where they mark calls
   * @param parser tells the parts of the answer apart; without it all is content
   */
  AnswerReader(
      Engine engine,
      Generation generation,
      Tokenizer tokenizer,
      int index,
      StopText stops,
      boolean showControl,
      Optional<ReplyParser> parser) {
    this.engine = engine;
    this.generation = generation;
    this.tokenizer = tokenizer;
    this.index = index;
    this.stops = stops;
    this.parser = parser;
    this.characters = new Detokenizer(tokenizer, showControl);
    this.ends = generation.request().ends();
  }

  /**
   * What was new.
   *
   * @param logprobs of the tokens since the last time that something was said
   */
  record Said(List<Part> parts, List<TokenLogprob> logprobs) {
    static final Said NOTHING = new Said(List.of(), List.of());
  }

  int index() {
    return index;
  }

  Generation generation() {
    return generation;
  }

  /** Tokens that the answer has taken so far. */
  int tokens() {
    return tokens;
  }

  /** How the answer ended, in the API's words; null while it goes on. */
  @Nullable String finish() {
    return finish;
  }

  /** Reads what has come since the last time. */
  Said read() {
    // The ending first: when it is there, all tokens are.
    Ending ending = generation.ending();
    int published = generation.published();
    StringBuilder text = new StringBuilder();
    List<Part> parts = new ArrayList<>();
    while (tokens < published && stops.found().isEmpty() && !hasItsCall()) {
      take(text);
      if (parser.isPresent() && parser.get().wantsOneCall()) {
        parts.addAll(parts(text.toString()));
        text.setLength(0);
      }
    }
    if (stops.found().isPresent() || hasItsCall()) {
      engine.finish(generation);
      end(parts, text, "stop");
    } else if (ending != null && tokens == published) {
      text.append(stops.add(characters.end())).append(stops.rest());
      end(parts, text, ending == Ending.STOP ? "stop" : "length");
    } else {
      parts.addAll(parts(text.toString()));
    }
    if (parts.isEmpty() && finish == null) {
      return Said.NOTHING;
    }
    List<TokenLogprob> logprobs = List.copyOf(pending);
    pending.clear();
    return new Said(parts, logprobs);
  }

  /** Whether one call was wanted, and is there. */
  private boolean hasItsCall() {
    return parser.isPresent() && parser.get().over();
  }

  private void take(StringBuilder text) {
    int place = tokens;
    int token = generation.token(place);
    tokens++;
    boolean end = Arrays.stream(ends).anyMatch(each -> each == token);
    if (end || (token == generation.stopToken() && place == generation.published() - 1)) {
      return;
    }
    if (generation.request().logprobs() >= 0) {
      pending.add(TokenLogprob.of(generation, place, tokenizer));
    }
    text.append(stops.add(characters.next(token)));
  }

  private void end(List<Part> parts, StringBuilder text, String how) {
    parts.addAll(parts(text.toString()));
    boolean called = false;
    if (parser.isPresent()) {
      parts.addAll(parser.get().end());
      called = parser.get().calls() > 0;
    }
    finish = called && how.equals("stop") ? "tool_calls" : how;
  }

  private List<Part> parts(String text) {
    if (parser.isPresent()) {
      return parser.get().add(text);
    }
    return text.isEmpty() ? List.of() : List.of(new Part.Content(text));
  }
}
