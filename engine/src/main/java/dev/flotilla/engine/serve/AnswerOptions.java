package dev.flotilla.engine.serve;

import dev.flotilla.engine.GenerationRequest;
import dev.flotilla.engine.Pooling;
import dev.flotilla.engine.RequestRefused;
import dev.flotilla.engine.sample.Bias;
import dev.flotilla.engine.sample.Sampling;
import dev.flotilla.engine.sample.TokenMask;
import dev.flotilla.wire.openai.DefaultSampling;
import dev.flotilla.wire.openai.RequestScan;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import tools.jackson.databind.JsonNode;

/**
 * What a request says of its answers, whether it is a chat or a text to complete.
 *
 * @param maxTokens tokens of one answer, 0 where the context alone bounds it
 * @param count answers to one prompt
 * @param stops texts that end an answer
 * @param keepStop whether the text that ended it belongs to it
 * @param logprobs likeliest tokens that are told, -1 where none are
 */
@SuppressWarnings("ArrayRecordComponent") // tokens go to the engine as they are
record AnswerOptions(
    Sampling sampling,
    int maxTokens,
    int minTokens,
    int count,
    List<String> stops,
    int[] stopTokens,
    boolean keepStop,
    boolean endless,
    int logprobs,
    long root,
    int priority,
    boolean stream,
    boolean usageInStream,
    boolean usageInEachChunk) {

  /** Answers to one prompt. */
  static final int COUNT_MAX = RequestScan.ANSWERS_MAX;

  /** Texts that end an answer, and characters of one. */
  static final int STOPS_MAX = 16;

  static final int STOP_CHARS_MAX = 256;

  /** Tokens that one request gives a bias. */
  static final int BIAS_MAX = 1024;

  static AnswerOptions read(Fields fields, int vocabulary, int logprobs, RandomGenerator seeds) {
    int maxTokens = tokens(fields, "max_tokens");
    int completion = tokens(fields, "max_completion_tokens");
    int most = completion > 0 ? completion : maxTokens;
    int least = fields.whole("min_tokens", 0, Integer.MAX_VALUE, 0);
    if (most > 0 && least > most) {
      throw RequestRefused.field(
          "min_tokens",
          "min_tokens is %d, and the answer may have %d at most (max_tokens)"
              .formatted(least, most));
    }
    boolean stream = fields.is("stream");
    Optional<Fields> streaming =
        fields.object("stream_options").map(each -> new Fields(each, "stream_options."));
    if (streaming.isPresent() && !stream) {
      throw RequestRefused.field(
          "stream_options",
          "stream_options needs stream to be true: leave it out, or ask for a stream");
    }
    boolean usage = streaming.map(each -> each.is("include_usage")).orElse(false);
    boolean eachChunk = streaming.map(each -> each.is("continuous_usage_stats")).orElse(false);
    streaming.ifPresent(Fields::refuseOthers);
    AnswerOptions options =
        new AnswerOptions(
            sampling(fields, vocabulary, seeds),
            most,
            least,
            fields.whole("n", 1, COUNT_MAX, 1),
            stops(fields),
            tokens(fields, "stop_token_ids", vocabulary),
            fields.is("include_stop_str_in_output"),
            fields.is("ignore_eos"),
            logprobs,
            fields
                .text("cache_salt")
                .map(AnswerOptions::root)
                .orElse(GenerationRequest.COMMON_ROOT),
            (int) fields.whole("priority", Integer.MIN_VALUE, Integer.MAX_VALUE).orElse(0),
            stream,
            usage || eachChunk,
            eachChunk);
    fields.allow("user", "metadata", "safety_identifier", "prompt_cache_key");
    fields.onlyPlain("store", "this server keeps no answers", "false");
    fields.onlyPlain("service_tier", "this server has one tier", "auto", "default");
    return options;
  }

  /** A limit of tokens, 0 where there is none: -1 is llama.cpp's word for that. */
  private static int tokens(Fields fields, String name) {
    long given = fields.whole(name, -1, Integer.MAX_VALUE).orElse(-1);
    if (given == 0) {
      throw RequestRefused.field(name, name + " must be at least 1, or -1 for no limit, not 0");
    }
    return (int) Math.max(0, given);
  }

  private static Sampling sampling(Fields fields, int vocabulary, RandomGenerator seeds) {
    try {
      return new Sampling(
          fields.number("temperature").orElse(DefaultSampling.TEMPERATURE),
          topK(fields, vocabulary),
          fields.number("top_p").orElse(DefaultSampling.TOP_P),
          fields.number("min_p").orElse(DefaultSampling.MIN_P),
          fields.number("repetition_penalty").orElse(1),
          fields.number("presence_penalty").orElse(0),
          fields.number("frequency_penalty").orElse(0),
          bias(fields, vocabulary),
          fields.whole("seed", Long.MIN_VALUE, Long.MAX_VALUE).orElseGet(seeds::nextLong));
    } catch (Sampling.OutOfRange wrong) {
      throw RequestRefused.field(wrong.parameter(), String.valueOf(wrong.getMessage()));
    }
  }

  /** 0 and -1 mean all tokens, and so does any number beyond those that there are. */
  private static int topK(Fields fields, int vocabulary) {
    long given = fields.whole("top_k", -1, Long.MAX_VALUE).orElse(DefaultSampling.TOP_K);
    return (int) Math.max(0, Math.min(given, vocabulary));
  }

  private static Bias bias(Fields fields, int vocabulary) {
    Optional<Map<Integer, Float>> values =
        fields
            .object("logit_bias")
            .map(given -> {
              if (given.size() > BIAS_MAX) {
                throw RequestRefused.field(
                    "logit_bias",
                    "logit_bias has %d tokens; at most %d are allowed"
                        .formatted(given.size(), BIAS_MAX));
              }
              Map<Integer, Float> byToken = new HashMap<>();
              for (Map.Entry<String, JsonNode> each : given.properties()) {
                double value = each.getValue().asDouble(Double.NaN);
                if (!(value >= -100 && value <= 100)) {
                  throw RequestRefused.field(
                      "logit_bias", "logit_bias must give each token a number from -100 to 100");
                }
                byToken.put(token("logit_bias", each.getKey(), vocabulary), (float) value);
              }
              return byToken;
            });
    return values.map(Bias::new).orElse(Bias.NONE);
  }

  private static int token(String field, String text, int vocabulary) {
    int token;
    try {
      token = Integer.parseInt(text);
    } catch (NumberFormatException none) {
      token = -1;
    }
    if (token < 0 || token >= vocabulary) {
      throw RequestRefused.field(
          field,
          "%s names the token %s, and the model has those from 0 to %d"
              .formatted(field, text.length() > 20 ? text.substring(0, 20) : text, vocabulary - 1));
    }
    return token;
  }

  private static int[] tokens(Fields fields, String name, int vocabulary) {
    List<Integer> tokens = new ArrayList<>();
    fields
        .list(name)
        .ifPresent(list -> {
          if (list.size() > BIAS_MAX) {
            throw RequestRefused.field(
                name,
                "%s has %d tokens; at most %d are allowed".formatted(name, list.size(), BIAS_MAX));
          }
          list.forEach(each -> tokens.add(token(name, each.asString(""), vocabulary)));
        });
    return tokens.stream().mapToInt(Integer::intValue).toArray();
  }

  private static List<String> stops(Fields fields) {
    JsonNode given = fields.any("stop").orElseGet(Json::list);
    if (given.isString()) {
      return List.of(stop("stop", given.stringValue()));
    }
    if (!given.isArray()) {
      throw fields.wrong("stop", "a text or a list of texts", given);
    }
    if (given.size() > STOPS_MAX) {
      throw RequestRefused.field(
          "stop", "stop has %d texts; at most %d are allowed".formatted(given.size(), STOPS_MAX));
    }
    List<String> stops = new ArrayList<>();
    for (int i = 0; i < given.size(); i++) {
      String place = "stop[" + i + "]";
      if (!given.get(i).isString()) {
        throw fields.wrong(place, "a text", given.get(i));
      }
      stops.add(stop(place, given.get(i).stringValue()));
    }
    return List.copyOf(stops);
  }

  private static String stop(String place, String text) {
    if (text.isEmpty() || text.length() > STOP_CHARS_MAX) {
      throw RequestRefused.field(
          place,
          "%s must have 1 to %d characters, not %d"
              .formatted(place, STOP_CHARS_MAX, text.length()));
    }
    return text;
  }

  private static long root(String salt) {
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256").digest(salt.getBytes(StandardCharsets.UTF_8));
      long number = 0;
      for (int i = 0; i < Long.BYTES; i++) {
        number = number << 8 | (hash[i] & 0xff);
      }
      return Math.min(number | Long.MIN_VALUE, GenerationRequest.COMMON_ROOT - 1);
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException("every Java has SHA-256", impossible);
    }
  }

  /** What the engine is asked for. */
  GenerationRequest request(
      int[] prompt, int contextMax, int[] ends, Optional<Supplier<TokenMask>> form) {
    int room = Math.max(1, contextMax - prompt.length);
    return new GenerationRequest(
        prompt,
        sampling,
        maxTokens == 0 ? room : Math.min(maxTokens, room),
        Math.min(minTokens, room),
        ends,
        endless,
        stopTokens,
        logprobs,
        form,
        root,
        priority,
        Pooling.NONE);
  }
}
