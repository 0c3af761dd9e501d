package dev.flotilla.bench.measure;

import dev.flotilla.bench.measure.RequestRecord.CountedBy;

/**
 * The times of one request that succeeded, in milliseconds: what every figure is made of.
 *
 * <p>The end is that of the reply. {@code vllm bench serve} takes the last chunk with choices, the
 * one with the finish reason; what follows it, usage and {@code [DONE]}, comes with it in all
 * servers that we know.
 */
final class Timing {
  private static final double NANOS = 1e6;
  private static final int TOKENS_BEYOND = 16;
  private static final int TOKENS_UNASKED = 100_000;

  private final RequestRecord request;
  private final boolean chunksSay;
  private final boolean oneEach;

  Timing(RequestRecord request) {
    this.request = request;
    this.chunksSay = chunksSay(request.chunks(), most(request));
    this.oneEach =
        request.countedBy() != CountedBy.CHUNKS
            && request.chunks().count() > 0
            && request.outputTokens() == request.chunks().count();
  }

  RequestRecord request() {
    return request;
  }

  /** To the first chunk with output, from when the request was due. */
  double ttft() {
    return millis(firstNanos() - request.scheduledNanos());
  }

  double ttftFromSend() {
    return millis(firstNanos() - request.sentNanos());
  }

  /** To the end of the reply, from when the request was due. */
  double e2el() {
    return millis(request.endNanos() - request.scheduledNanos());
  }

  double e2elFromSend() {
    return millis(request.endNanos() - request.sentNanos());
  }

  /** From the first chunk to the end, for each token after the first; 0 where there is none. */
  double tpot() {
    return hasTpot() ? millis(request.endNanos() - firstNanos()) / (request.outputTokens() - 1) : 0;
  }

  boolean hasTpot() {
    return request.outputTokens() > 1;
  }

  /** How late it was sent, after the plan. */
  double lateness() {
    return millis(request.sentNanos() - request.scheduledNanos());
  }

  /** When its first output came: its end, where none came at all. */
  long firstNanos() {
    return request.chunks().count() == 0 ? request.endNanos() : request.chunks().nanos(0);
  }

  /** The gaps between chunks, as the field counts them. */
  void chunkGaps(Samples.Builder gaps) {
    Chunks chunks = request.chunks();
    for (int chunk = 1; chunk < chunks.count(); chunk++) {
      gaps.add(millis(chunks.nanos(chunk) - chunks.nanos(chunk - 1)));
    }
  }

  /** Whether it is known how many tokens each chunk held. */
  boolean tokensKnown() {
    return chunksSay || oneEach;
  }

  /** Tokens up to and with a chunk; only where they are {@linkplain #tokensKnown() known}. */
  int tokens(int chunk) {
    return chunksSay ? request.chunks().tokens(chunk) : chunk + 1;
  }

  /**
   * The gaps between tokens. A chunk of several shares the time before it among them: three tokens
   * after 30 ms are three gaps of 10 ms. The tokens that came with the first one came after 0 ms.
   * So the mean is the time between the first and the last chunk over the tokens after the first.
   */
  void tokenGaps(Samples.Builder gaps) {
    Chunks chunks = request.chunks();
    for (int token = 1; token < tokens(0); token++) {
      gaps.add(0);
    }
    long since = chunks.nanos(0);
    for (int chunk = 1; chunk < chunks.count(); chunk++) {
      int held = tokens(chunk) - tokens(chunk - 1);
      // A chunk without a token of its own leaves its time to the next one.
      if (held > 0) {
        double gap = millis(chunks.nanos(chunk) - since) / held;
        for (int token = 0; token < held; token++) {
          gaps.add(gap);
        }
        since = chunks.nanos(chunk);
      }
    }
  }

  private static boolean chunksSay(Chunks chunks, int most) {
    int before = 1;
    for (int chunk = 0; chunk < chunks.count(); chunk++) {
      if (chunks.tokens(chunk) < before || chunks.tokens(chunk) > most) {
        return false;
      }
      before = chunks.tokens(chunk);
    }
    return chunks.count() > 0;
  }

  /**
   * Tokens above which a server's count is not believed: what was asked for, and a few to end it.
   */
  private static int most(RequestRecord request) {
    return request.maxTokens() > 0 ? request.maxTokens() + TOKENS_BEYOND : TOKENS_UNASKED;
  }

  private static double millis(long nanos) {
    return nanos / NANOS;
  }
}
