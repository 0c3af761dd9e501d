package dev.flotilla.engine.serve;

import dev.flotilla.engine.Generation;
import dev.flotilla.gguf.tokenizer.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The log-probability of one token of an answer.
 *
 * @param bytes what the token stands for, maybe a part of a character
 * @param likeliest the likeliest tokens of its place, the likeliest first
 */
@SuppressWarnings("ArrayRecordComponent") // written once, and never compared
record TokenLogprob(byte[] bytes, float logprob, List<TokenLogprob> likeliest) {

  static TokenLogprob of(Generation generation, int place, Tokenizer tokenizer) {
    List<TokenLogprob> likeliest = new ArrayList<>();
    for (int rank = 0; rank < generation.request().logprobs(); rank++) {
      likeliest.add(
          new TokenLogprob(
              tokenizer.piece(generation.alternative(place, rank)),
              generation.alternativeLogprob(place, rank),
              List.of()));
    }
    return new TokenLogprob(
        tokenizer.piece(generation.token(place)), generation.logprob(place), likeliest);
  }

  String text() {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  /** A list of them as chats have it. */
  static ObjectNode chat(List<TokenLogprob> tokens) {
    ObjectNode all = Json.object();
    ArrayNode content = all.putArray("content");
    for (TokenLogprob token : tokens) {
      ObjectNode entry = token.entry();
      ArrayNode top = entry.putArray("top_logprobs");
      token.likeliest.forEach(each -> top.add(each.entry()));
      content.add(entry);
    }
    return all;
  }

  private ObjectNode entry() {
    ObjectNode entry = Json.object();
    entry.put("token", text());
    entry.put("logprob", finite(logprob));
    ArrayNode list = entry.putArray("bytes");
    for (byte each : bytes) {
      list.add(each & 0xff);
    }
    return entry;
  }

  /**
   * A list of them as completions have it.
   *
   * @param offset characters of the text before them
   */
  static ObjectNode completion(List<TokenLogprob> tokens, int offset) {
    ObjectNode all = Json.object();
    ArrayNode texts = all.putArray("tokens");
    ArrayNode values = all.putArray("token_logprobs");
    ArrayNode top = all.putArray("top_logprobs");
    ArrayNode offsets = all.putArray("text_offset");
    int at = offset;
    for (TokenLogprob token : tokens) {
      texts.add(token.text());
      values.add(finite(token.logprob));
      ObjectNode each = top.addObject();
      token.likeliest.forEach(other -> each.put(other.text(), finite(other.logprob)));
      offsets.add(at);
      at += token.text().length();
    }
    return all;
  }

  /** JSON has no infinity: what can't come has the number that others write for it. */
  private static double finite(float logprob) {
    return Math.max(logprob, -9999);
  }
}
