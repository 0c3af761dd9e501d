package dev.flotilla.hub.gateway;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.flotilla.hub.gateway.Upstream.Call;
import dev.flotilla.hub.routing.FleetSnapshot;
import dev.flotilla.hub.routing.RequestNeeds;
import dev.flotilla.hub.routing.Target;
import dev.flotilla.hub.routing.Target.Capability;
import dev.flotilla.server.http.ClientConnection;
import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.shape.request.Asked;
import dev.flotilla.shape.request.EngineRequest;
import dev.flotilla.wire.http.HttpCall;
import dev.flotilla.wire.openai.ApiError;
import dev.flotilla.wire.openai.RequestScan.Endpoint;
import dev.flotilla.wire.openai.RequestScan.Scanned;
import java.io.IOException;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Whether a prompt fits, before it is sent.
 *
 * <p>A token is at least one byte of text and at most as many as the vocabulary's longest, and JSON
 * writes a byte in at least one and at most six. So by bytes alone it is certain that a small
 * prompt fits and that a huge one does not. Between the two a worker of the model counts: it
 * applies its template and tokenizes. Where that is not to be had, the request is sent and the
 * engine decides.
 *
 * <p>Text alone is measured so: with images, audio or token ids in the request the engine decides.
 */
final class ContextCheck {
  /** What a chat template adds at most: once, for each message, and for each byte of the tools. */
  private static final int TEMPLATE_TOKENS = 256;

  private static final int MESSAGE_TOKENS = 32;
  private static final int TOOLS_FACTOR = 2;

  private static final int BYTES_PER_TOKEN_USUAL = 4;
  private static final int JSON_BYTES_PER_BYTE_MAX = 6;
  private static final byte[][] NOT_TEXT = {
    "\"image_url\"".getBytes(US_ASCII),
    "\"input_audio\"".getBytes(US_ASCII),
    "\"file\"".getBytes(US_ASCII)
  };

  private final Upstream upstream;
  private final GatewayLimits limits;

  ContextCheck(Upstream upstream, GatewayLimits limits) {
    this.upstream = upstream;
    this.limits = limits;
  }

  /**
   * The 400 with both numbers.
   *
   * @param promptTokens as they were counted; 0 or less where nobody has, or the engine did not say
   */
  static ApiError tooLong(long promptTokens, long contextTokens) {
    return tooLong(
        promptTokens > 0 ? promptTokens + " tokens" : "more tokens than fit", contextTokens);
  }

  private static ApiError tooLong(String prompt, long contextTokens) {
    return ApiError.badRequest(
        "context_length_exceeded",
        "the prompt has "
            + prompt
            + " and this model's context is "
            + contextTokens
            + " tokens, of which the answer needs at least one: shorten the prompt",
        "messages");
  }

  /** The same of a text that is to become a vector: it is answered by no token. */
  static ApiError tooLongText(long textTokens, long contextTokens) {
    return ApiError.badRequest(
        "context_length_exceeded",
        "a text of the input has "
            + (textTokens > 0 ? textTokens + " tokens" : "more tokens than fit")
            + ", and this model takes texts of "
            + contextTokens
            + " tokens at most: shorten it",
        "input");
  }

  /**
   * What the request needs, the tokens of its prompt among it.
   *
   * @throws Refusal where it fits no target
   */
  RequestNeeds needs(Asked wanted, FleetSnapshot.Name name, String key, ClientConnection client)
      throws Refusal, ClientGone {
    Endpoint endpoint = wanted.endpoint();
    Scanned asked = wanted.scanned();
    Capability capability =
        endpoint == Endpoint.EMBEDDINGS ? Capability.EMBEDDINGS : Capability.TEXT;
    int output = (int) Math.min(asked.maxTokens().orElse(0), Integer.MAX_VALUE);
    int guess = (asked.contentBytes() + asked.toolsBytes()) / BYTES_PER_TOKEN_USUAL;
    RequestNeeds any =
        new RequestNeeds(
            name.name(), capability, key, 0, guess, output, wanted.features(), Set.of());
    if (capability == Capability.EMBEDDINGS) {
      return any;
    }
    long bytes = (long) asked.contentBytes() + asked.toolsBytes();
    long most =
        asked.contentBytes()
            + (long) TOOLS_FACTOR * asked.toolsBytes()
            + TEMPLATE_TOKENS
            + (long) MESSAGE_TOKENS * asked.messages();
    int smallest = smallest(name);
    if (smallest == 0 || most + 1 <= smallest || !isText(asked)) {
      return any;
    }
    int largest = largest(name);
    if (most + 1 <= largest) {
      return any.withPrompt((int) most + 1, guess);
    }
    long least = atLeast(bytes, name);
    if (least + 1 > largest) {
      throw Refusal.refused(tooLong("at least " + least + " tokens", largest));
    }
    int counted = count(wanted, name, client);
    if (counted < 0) {
      return any.withPrompt((int) least + 1, guess);
    }
    if (counted + 1 > largest) {
      throw Refusal.refused(tooLong(counted, largest));
    }
    return any.withPrompt(counted + 1, counted);
  }

  /** The smallest context that is known, 0 where none is. */
  private static int smallest(FleetSnapshot.Name name) {
    int smallest = name.targets().isEmpty() ? name.contextTokens() : 0;
    for (Target target : name.targets()) {
      if (target.contextTokens() > 0 && (smallest == 0 || target.contextTokens() < smallest)) {
        smallest = target.contextTokens();
      }
    }
    return smallest;
  }

  /** The largest context; a target that does not say its own may hold anything. */
  private static int largest(FleetSnapshot.Name name) {
    int largest = name.targets().isEmpty() ? name.contextTokens() : 0;
    for (Target target : name.targets()) {
      if (target.contextTokens() == 0) {
        return Integer.MAX_VALUE;
      }
      largest = Math.max(largest, target.contextTokens());
    }
    return largest;
  }

  /** Tokens that so many bytes of JSON are at least; 0 where the vocabulary is not known. */
  private static long atLeast(long jsonBytes, FleetSnapshot.Name name) {
    int longest = 0;
    for (Target target : name.targets()) {
      if (target.longestTokenBytes() == 0) {
        return 0;
      }
      longest = Math.max(longest, target.longestTokenBytes());
    }
    return longest == 0 ? 0 : jsonBytes / JSON_BYTES_PER_BYTE_MAX / longest;
  }

  private static boolean isText(Scanned asked) {
    byte[] body = asked.body();
    for (byte[] word : NOT_TEXT) {
      if (contains(body, word)) {
        return false;
      }
    }
    return true;
  }

  private static boolean contains(byte[] bytes, byte[] word) {
    for (int i = 0; i + word.length <= bytes.length; i++) {
      int at = 0;
      while (at < word.length && bytes[i + at] == word[at]) {
        at++;
      }
      if (at == word.length) {
        return true;
      }
    }
    return false;
  }

  /** Tokens of the prompt as a worker counts them, -1 where none can. */
  private int count(Asked wanted, FleetSnapshot.Name name, ClientConnection client)
      throws ClientGone {
    Target counter = counter(name);
    Scanned asked = wanted.scanned();
    if (counter == null || asked.body().length > limits.countBytesMax()) {
      return -1;
    }
    try {
      if (counter.dialect() == Dialect.VLLM || counter.dialect() == Dialect.MLX_LM) {
        EngineRequest.Place place =
            new EngineRequest.Place(
                counter.dialect(), counter.upstreamModel(), 0, 0, 0, Optional.empty());
        return Prompts.count(call(counter, "/tokenize", EngineRequest.body(wanted, place), client));
      }
      byte @Nullable [] prompt =
          wanted.endpoint() == Endpoint.CHAT
              ? Prompts.rendered(call(counter, "/apply-template", asked.body(), client))
              : Prompts.ofCompletion(asked.body());
      return prompt == null
          ? -1
          : Prompts.tokens(call(counter, "/tokenize", Prompts.toTokenize(prompt), client));
    } catch (AttemptFailed | IOException uncounted) {
      return -1;
    }
  }

  /**
   * Counting takes no slot of an engine, so any worker that serves will do; mlx-lm last, which
   * counts only where the agent could start it with a route for that.
   */
  private static @Nullable Target counter(FleetSnapshot.Name name) {
    Target last = null;
    for (Target target : name.targets()) {
      if (target.kind() == Target.Kind.WORKER
          && target.admitting()
          && target.capability() == Capability.TEXT) {
        switch (target.dialect()) {
          case BUILTIN, LLAMA_SERVER, VLLM -> {
            return target;
          }
          case MLX_LM -> last = target;
          case UNKNOWN -> {}
        }
      }
    }
    return last;
  }

  private byte[] call(Target target, String path, byte[] body, ClientConnection client)
      throws AttemptFailed, ClientGone, IOException {
    HttpCall call =
        HttpCall.post(target.basePath() + path, EngineCall.headers(target, false), body);
    try (Call counting = upstream.send(target, call, limits.count(), client)) {
      byte[] reply = counting.reply().bytes(limits.replyBytesMax());
      counting.keep();
      if (counting.reply().status() != 200) {
        throw new IOException("status " + counting.reply().status());
      }
      return reply;
    }
  }
}
