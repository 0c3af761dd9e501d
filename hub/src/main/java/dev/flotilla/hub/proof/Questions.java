package dev.flotilla.hub.proof;

import java.util.List;

/**
 * What every worker is asked. The beginnings are known by heart by any language model, so that the
 * next token stands far before the others; the chats show what the template makes of a message.
 */
final class Questions {
  /**
   * @param name what the evidence calls it
   * @param chat whether it is a message to be answered, else a text to be gone on with
   */
  record Question(String name, boolean chat, String text) {}

  static final List<Question> ALL =
      List.of(
          new Question("count on", false, "1, 2, 3, 4, 5, 6, 7, 8,"),
          new Question("alphabet", false, "A, B, C, D, E, F, G,"),
          new Question("weekdays", false, "Monday, Tuesday, Wednesday, Thursday,"),
          new Question("months", false, "January, February, March, April, May,"),
          new Question("fox", false, "The quick brown fox jumps over the lazy"),
          new Question("once", false, "Once upon a"),
          new Question("repeat", false, "red blue green red blue green red blue green red blue"),
          new Question("pairs", false, "hot - cold, big - small, up - down, left -"),
          new Question("code", false, "def add(a, b):\n    return a +"),
          new Question("quote", false, "To be, or not to be, that is the"),
          new Question("yes or no", true, "Is the sky blue? Answer with yes or no."),
          new Question("say hello", true, "Say the word hello and nothing else."),
          new Question("two and two", true, "What is 2+2? Answer with the number alone."),
          new Question("greeting", true, "Hello!"),
          new Question("unicode", true, "Übersetze «größer» — 日本語 — 🦊: one word."));

  /**
   * Texts that no model finds strange; a beginning that is given, and the rest that is judged. Of
   * several languages: one is enough to be known.
   */
  record FixedText(String given, String judged) {}

  static final List<FixedText> TEXTS =
      List.of(
          new FixedText("1, 2, 3, 4, 5,", " 6, 7, 8, 9, 10, 11, 12, 13, 14"),
          new FixedText("The sun rises in the", " east and sets in the west. The sky is blue"),
          new FixedText("All human beings are", " born free and equal in dignity and rights"),
          new FixedText("人人生而自由，", "在尊严和权利上一律平等"));

  static final List<String> TO_EMBED =
      List.of(
          "A cat sits on the mat.",
          "The kitten is lying on the rug.",
          "Interest rates rose by a quarter of a percent.");

  private Questions() {}
}
