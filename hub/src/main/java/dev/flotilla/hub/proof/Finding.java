package dev.flotilla.hub.proof;

/**
 * One thing that a proof looked at.
 *
 * @param stage {@code shape}, {@code sanity} or {@code speed}
 * @param probe what was asked
 * @param expected what a right worker says
 * @param seen what this one said
 * @param held whether it is as it should be
 */
public record Finding(String stage, String probe, String expected, String seen, boolean held) {
  private static final int CHARS_MAX = 600;

  public Finding {
    expected = cut(expected);
    seen = cut(seen);
  }

  private static String cut(String text) {
    return text.length() <= CHARS_MAX ? text : text.substring(0, CHARS_MAX) + "…";
  }
}
