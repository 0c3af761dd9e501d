package dev.flotilla.gguf.sandbox;

/**
 * What one template, and one rendering of it, may take. A template comes with a model file, so it
 * is input from outside like the file itself.
 *
 * @param sourceCharactersMax the template's text
 * @param stepsMax expressions and statements evaluated; work on long texts and lists counts by
 *     their length
 * @param stepsPerInputValue so many more for each message, text and other value given, since many
 *     templates look back at each message
 * @param depthMax expressions, statements and macro calls within each other
 * @param outputCharactersMax the prompt that is rendered
 * @param madeCharactersMax what all values made on the way may hold, list elements counted as 8
 *     characters each
 * @param madePerInputCharacter so many more for each character of the messages and other variables
 * @param rangeMax length of a {@code range}
 */
public record TemplateLimits(
    int sourceCharactersMax,
    long stepsMax,
    int stepsPerInputValue,
    int depthMax,
    int outputCharactersMax,
    long madeCharactersMax,
    int madePerInputCharacter,
    int rangeMax) {

  /** As docs/limits.md has them. */
  public static final TemplateLimits DEFAULTS =
      new TemplateLimits(1_000_000, 50_000_000, 10_000, 1_000, 32_000_000, 64_000_000, 32, 100_000);
}
