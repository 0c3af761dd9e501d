package dev.flotilla.gguf.sandbox;

/** What is left of {@link TemplateLimits} in one rendering. */
public final class Budget {
  /** Characters looked at that count as one step. */
  private static final int CHARACTERS_A_STEP = 32;

  /** What one element of a list counts as. */
  private static final int ELEMENT_CHARACTERS = 8;

  /** Lists within lists: deeper ones can be made by a template, and would overflow the stack. */
  static final int VALUE_DEPTH_MAX = 200;

  private final TemplateLimits limits;
  private long stepsMax;
  private long stepsLeft;
  private long madeLeft;
  private int depth;

  /** All of what the limits allow, for one rendering. */
  public Budget(TemplateLimits limits) {
    this.limits = limits;
    this.stepsMax = limits.stepsMax();
    this.stepsLeft = stepsMax;
    this.madeLeft = limits.madeCharactersMax();
  }

  /** What there was at the start. */
  public TemplateLimits limits() {
    return limits;
  }

  /** One statement or expression is evaluated. */
  public void step() {
    steps(1);
  }

  /**
   * So many steps at once, for work that grows with a value.
   *
   * @throws Failure where they are used up, as of all that counts here
   */
  public void steps(long count) {
    stepsLeft -= count;
    if (stepsLeft < 0) {
      throw Failure.limit("it took more than %,d steps".formatted(stepsMax));
    }
  }

  /** A text of so many characters is read from end to end. */
  public void scan(long characters) {
    steps(1 + characters / CHARACTERS_A_STEP);
  }

  /** A value of the input, which the template may look at and copy now and then. */
  public void given(long characters) {
    stepsMax += limits.stepsPerInputValue();
    stepsLeft += limits.stepsPerInputValue();
    madeLeft += characters * limits.madePerInputCharacter();
  }

  /** A text of so many characters comes to be. */
  public void made(long characters) {
    scan(characters);
    madeLeft -= characters;
    if (madeLeft < 0) {
      throw Failure.limit(
          "it made texts and lists of more than %,d characters"
              .formatted(limits.madeCharactersMax()));
    }
  }

  /** A list, or another value, of so many elements comes to be. */
  public void madeElements(long elements) {
    steps(elements);
    made(elements * ELEMENT_CHARACTERS);
  }

  /** A level deeper: a statement, expression or call within another. One that fails leaves none. */
  public void enter() {
    if (++depth > limits.depthMax()) {
      throw Failure.limit("more than %,d levels deep".formatted(limits.depthMax()));
    }
  }

  /** The end of what {@link #enter} began. */
  public void leave() {
    depth--;
  }

  /** The next level of a value within values. */
  public static int deeper(int level) {
    if (level >= VALUE_DEPTH_MAX) {
      throw Failure.limit("a value of more than %d levels".formatted(VALUE_DEPTH_MAX));
    }
    return level + 1;
  }
}
