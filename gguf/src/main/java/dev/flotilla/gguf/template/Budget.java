package dev.flotilla.gguf.template;

/** What is left of {@link TemplateLimits} in one rendering. */
final class Budget {
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

  Budget(TemplateLimits limits) {
    this.limits = limits;
    this.stepsMax = limits.stepsMax();
    this.stepsLeft = stepsMax;
    this.madeLeft = limits.madeCharactersMax();
  }

  TemplateLimits limits() {
    return limits;
  }

  void step() {
    steps(1);
  }

  void steps(long count) {
    stepsLeft -= count;
    if (stepsLeft < 0) {
      throw Failure.limit("it took more than %,d steps".formatted(stepsMax));
    }
  }

  /** A text of so many characters is read from end to end. */
  void scan(long characters) {
    steps(1 + characters / CHARACTERS_A_STEP);
  }

  /** A value of the input, which the template may look at and copy now and then. */
  void given(long characters) {
    stepsMax += limits.stepsPerInputValue();
    stepsLeft += limits.stepsPerInputValue();
    madeLeft += characters * limits.madePerInputCharacter();
  }

  /** A text of so many characters comes to be. */
  void made(long characters) {
    scan(characters);
    madeLeft -= characters;
    if (madeLeft < 0) {
      throw Failure.limit(
          "it made texts and lists of more than %,d characters"
              .formatted(limits.madeCharactersMax()));
    }
  }

  void madeElements(long elements) {
    steps(elements);
    made(elements * ELEMENT_CHARACTERS);
  }

  void enter() {
    if (++depth > limits.depthMax()) {
      throw Failure.limit("more than %,d levels deep".formatted(limits.depthMax()));
    }
  }

  void leave() {
    depth--;
  }

  /** The next level of a value within values. */
  static int deeper(int level) {
    if (level >= VALUE_DEPTH_MAX) {
      throw Failure.limit("a value of more than %d levels".formatted(VALUE_DEPTH_MAX));
    }
    return level + 1;
  }
}
