package dev.flotilla.cli.output;

/** Colours of a terminal, by meaning. */
public enum Style {
  PLAIN(""),
  STRONG("\u001b[1m"),
  DIM("\u001b[2m"),
  GOOD("\u001b[32m"),
  CARE("\u001b[33m"),
  BAD("\u001b[31m");

  private static final String RESET = "\u001b[0m";

  private final String start;

  Style(String start) {
    this.start = start;
  }

  /** The text in this style, or as it is where colours are not wanted. */
  public String apply(String text, boolean colours) {
    return colours && this != PLAIN ? start + text + RESET : text;
  }
}
