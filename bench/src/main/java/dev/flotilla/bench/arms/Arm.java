package dev.flotilla.bench.arms;

/** The arms of the experiment, in the order in which people ask the questions. */
public enum Arm {
  /** One worker, one request at a time. */
  A("one worker"),
  /** The same machine, with more slots. */
  C("the same machine, more slots"),
  /** Two machines. */
  B("both machines");

  private final String words;

  Arm(String words) {
    this.words = words;
  }

  /** What it is, for people. */
  public String words() {
    return words;
  }
}
