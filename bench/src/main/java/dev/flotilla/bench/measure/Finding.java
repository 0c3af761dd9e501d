package dev.flotilla.bench.measure;

/**
 * Something that a reader of the numbers must know.
 *
 * @param kind what it is about, for programs
 * @param misleads whether the numbers would mislead who does not know it; a command that prints
 *     such numbers ends with exit code 1
 * @param words one or two sentences: what was seen, and what it does to which numbers
 */
public record Finding(Kind kind, boolean misleads, String words) {

  /** What findings are about. */
  public enum Kind {
    NOTHING_SUCCEEDED,
    SOME_FAILED,
    IN_BAND_ERRORS,
    EMPTY_REPLIES,
    USAGE_MISSING,
    BUNDLED_CHUNKS,
    SHORT_ANSWERS,
    BEYOND_SLOTS,
    CONTRADICTION,
    FIRST_RUN_DIFFERS,
    REPEATS_CONTRADICT,
    CLIENT_BUSY,
    PARTIAL
  }

  /** The same, with the place where it was found before its words. */
  public Finding at(String where) {
    return new Finding(kind, misleads, where + ": " + words);
  }
}
