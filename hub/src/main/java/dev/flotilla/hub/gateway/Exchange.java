package dev.flotilla.hub.gateway;

import dev.flotilla.hub.routing.Target;
import dev.flotilla.wire.openai.EngineTimings;
import dev.flotilla.wire.openai.RequestScan.Endpoint;
import dev.flotilla.wire.openai.TokenUsage;
import org.jspecify.annotations.Nullable;

/** What is known of one request while it is served, for its records. For the request's thread. */
final class Exchange {
  final String id;
  final Endpoint endpoint;
  final long arrivedNanos;

  String key = "";

  /** A public name; empty until the request was found to ask for one. */
  String model = "";

  boolean streamed;
  @Nullable Target target;
  int concurrency;
  int attempts;
  int status;
  String outcome = "failed";

  /** The word for programs of the error that the client got, empty where it got none. */
  String errorCode = "";

  long queueNanos;

  /** When the last attempt's request was sent. */
  long sentNanos;

  /** When the first byte of the reply's body could go to the client, 0 where none did. */
  long firstByteNanos;

  long endedNanos;

  /** What the answer that is being sought has cost, as far as its engine has said. */
  @Nullable TokenUsage usage;

  @Nullable EngineTimings timings;

  /** Answers that are there. */
  int answers;

  /** What they have cost. */
  private @Nullable TokenUsage cost;

  Exchange(String id, Endpoint endpoint, long arrivedNanos) {
    this.id = id;
    this.endpoint = endpoint;
    this.arrivedNanos = arrivedNanos;
  }

  /** The path that was called. */
  String path() {
    return switch (endpoint) {
      case CHAT -> "/v1/chat/completions";
      case COMPLETIONS -> "/v1/completions";
      case EMBEDDINGS -> "/v1/embeddings";
    };
  }

  /** A request for an answer is sent. */
  void begin(long now) {
    sentNanos = now;
    usage = null;
    timings = null;
  }

  /** The attempt failed before the client saw anything of it. */
  void forget() {
    if (answers == 0) {
      firstByteNanos = 0;
    }
  }

  /** The hub stopped the engine, and counted instead of it. */
  void stopped(long promptTokens, long completionTokens) {
    usage = new TokenUsage(promptTokens, completionTokens, -1);
  }

  /** An answer is there. */
  void answered() {
    answers++;
    TokenUsage more = usage;
    TokenUsage until = cost;
    if (more != null) {
      cost =
          until == null
              ? more
              : new TokenUsage(
                  until.promptTokens() + more.promptTokens(),
                  until.completionTokens() + more.completionTokens(),
                  until.cachedTokens() < 0 || more.cachedTokens() < 0
                      ? -1
                      : until.cachedTokens() + more.cachedTokens());
    }
  }

  private @Nullable TokenUsage told() {
    return cost == null ? usage : cost;
  }

  void end(int statusSeen, String how, String code) {
    status = statusSeen;
    outcome = how;
    errorCode = code;
  }

  /** Tokens of the prompt, cached ones included; -1 where the engine did not say. */
  int promptTokens() {
    TokenUsage told = told();
    if (told != null) {
      return (int) told.promptTokens();
    }
    return timings == null ? -1 : (int) (timings.promptTokens() + timings.cachedTokens());
  }

  /** Tokens of the prompt that were computed; -1 where the engine did not say. */
  int computedPromptTokens() {
    if (timings != null) {
      return (int) timings.promptTokens();
    }
    TokenUsage told = told();
    return told == null ? -1 : (int) (told.promptTokens() - Math.max(0, told.cachedTokens()));
  }

  /** Tokens of the answer; -1 where the engine did not say. */
  int completionTokens() {
    TokenUsage told = told();
    if (told != null) {
      return (int) told.completionTokens();
    }
    return timings == null ? -1 : (int) timings.predictedTokens();
  }
}
