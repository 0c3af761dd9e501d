package dev.flotilla.bench.dataset;

import dev.flotilla.bench.dataset.EntryReader.Bad;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * What a hub's usage log says of one request, as {@code flotilla get usage -o jsonl} writes it.
 *
 * @param arrived when it came: the log has its end and how long it took
 * @param model what it asked for
 * @param key the client key that it was made with, empty where none was demanded
 * @param inputTokens as the engine counted them, template and all
 */
record RecordedRequest(
    Instant arrived, String model, String key, int inputTokens, int outputTokens) {
  private static final String CHAT = "/chat/completions";
  private static final String COMPLETIONS = "/completions";

  /**
   * Reads a line.
   *
   * @return empty where the request made no text, or nobody counted its tokens: it can't be made
   *     again
   */
  static Optional<RecordedRequest> of(JsonNode line, DatasetLimits limits) throws Bad {
    JsonNode error = line.path("error");
    if (!error.isMissingNode()) {
      throw new Bad("the hub could not go on: " + error.path("message").asString("no reason"));
    }
    Instant ended = instant(line.path("at"));
    JsonNode micros = line.path("totalMicros");
    JsonNode input = line.path("promptTokens");
    JsonNode output = line.path("completionTokens");
    boolean numbers =
        micros.isIntegralNumber()
            && input.isIntegralNumber()
            && output.isIntegralNumber()
            && micros.canConvertToLong()
            && input.canConvertToInt()
            && output.canConvertToInt();
    if (!numbers) {
      throw new Bad(
          "a line of a usage log has the whole numbers totalMicros, promptTokens and"
              + " completionTokens; make one with 'flotilla get usage -o jsonl'");
    }
    long took = micros.asLong();
    if (took < 0 || took > Duration.ofDays(30).toNanos() / 1_000) {
      throw new Bad("totalMicros is the time of a request, not " + took);
    }
    if (input.asInt() > limits.tokensMax() || output.asInt() > limits.tokensMax()) {
      throw new Bad("a request has at most " + limits.tokensMax() + " tokens");
    }
    String path = line.path("path").asString(CHAT);
    boolean text = path.endsWith(CHAT) || path.endsWith(COMPLETIONS);
    if (!text || input.asInt() < 1 || output.asInt() < 1) {
      return Optional.empty();
    }
    return Optional.of(
        new RecordedRequest(
            ended.minusNanos(took * 1_000),
            line.path("model").asString(""),
            line.path("key").asString(""),
            input.asInt(),
            output.asInt()));
  }

  private static Instant instant(JsonNode at) throws Bad {
    try {
      Instant instant = Instant.parse(at.asString(""));
      if (instant.isAfter(Instant.EPOCH) && instant.getEpochSecond() < 1L << 40) {
        return instant;
      }
    } catch (DateTimeParseException e) {
      // Said below, as for a time that no log is from.
    }
    throw new Bad(
        "at is the time at which a request ended, such as 2026-03-01T08:00:00.123Z; make a log with"
            + " 'flotilla get usage -o jsonl'");
  }
}
