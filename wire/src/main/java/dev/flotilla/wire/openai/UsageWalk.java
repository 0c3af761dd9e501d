package dev.flotilla.wire.openai;

import static java.nio.charset.StandardCharsets.US_ASCII;

import org.jspecify.annotations.Nullable;

/**
 * Reads a {@code usage} object as engines write it: counts that are whole numbers, and objects of
 * such counts. Anything else in it makes the walk give up, and a parser has to look at it. There is
 * one in every reply, and a parser for it cost a hub more than the rest of the reply did.
 */
final class UsageWalk extends JsonWalk {
  private static final int TOP = 0;
  private static final int PROMPT_DETAILS = 1;
  private static final int OTHER_DETAILS = 2;
  private static final byte[] PROMPT_TOKENS = "prompt_tokens".getBytes(US_ASCII);
  private static final byte[] COMPLETION_TOKENS = "completion_tokens".getBytes(US_ASCII);
  private static final byte[] DETAILS = "prompt_tokens_details".getBytes(US_ASCII);
  private static final byte[] CACHED_TOKENS = "cached_tokens".getBytes(US_ASCII);

  /** Digits of a count that a double holds exactly, as the parser's numbers are. */
  private static final int DIGITS_MAX = 15;

  private long prompt;
  private long completion;
  private long cached = -1;

  /** The counts, or null where the object is not of the usual form. */
  static @Nullable TokenUsage read(byte[] json, int start, int length) {
    UsageWalk walk = new UsageWalk();
    return walk.wholeObject(json, start, length, TOP)
        ? new TokenUsage(walk.prompt, walk.completion, walk.cached)
        : null;
  }

  @Override
  boolean field(int level) {
    if (bytes[at] == '{') {
      return level == TOP && object(isKey(DETAILS) ? PROMPT_DETAILS : OTHER_DETAILS);
    }
    int from = at;
    long count = 0;
    while (at < end && at - from < DIGITS_MAX && bytes[at] >= '0' && bytes[at] <= '9') {
      count = 10 * count + bytes[at++] - '0';
    }
    if (at == from || (at > from + 1 && bytes[from] == '0')) {
      return false;
    }
    if (level == TOP && isKey(PROMPT_TOKENS)) {
      prompt = count;
    } else if (level == TOP && isKey(COMPLETION_TOKENS)) {
      completion = count;
    } else if (level == PROMPT_DETAILS && isKey(CACHED_TOKENS)) {
      cached = count;
    }
    return true;
  }
}
