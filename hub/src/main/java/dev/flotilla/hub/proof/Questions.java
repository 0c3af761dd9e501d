package dev.flotilla.hub.proof;

import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * What every worker is asked. The beginnings are known by heart by any language model, so that the
 * next token stands far before the others; the chats show what the template makes of a message.
 */
final class Questions {
  /**
   * @param name what the evidence calls it
   * @param chat whether it is a message to be answered, else a text to be gone on with
   * @param known the word that whoever knows the text goes on with; empty where there is no one
   *     such word, or digits alone, which stand at the same places in many vocabularies
   */
  record Question(String name, boolean chat, String text, String known) {
    /** Whether the token is that word, or the beginning of it: vocabularies cut differently. */
    boolean knows(String token) {
      String word = token.strip().toLowerCase(Locale.ROOT);
      return !word.isEmpty() && known.toLowerCase(Locale.ROOT).startsWith(word);
    }
  }

  static final List<Question> ALL =
      List.of(
          text("count on", "1, 2, 3, 4, 5, 6, 7, 8,", ""),
          text("alphabet", "A, B, C, D, E, F, G,", "H"),
          text("weekdays", "Monday, Tuesday, Wednesday, Thursday,", "Friday"),
          text("months", "January, February, March, April, May,", "June"),
          text("fox", "The quick brown fox jumps over the lazy", "dog"),
          text("once", "Once upon a", "time"),
          text("repeat", "red blue green red blue green red blue green red blue", "green"),
          text("pairs", "hot - cold, big - small, up - down, left -", "right"),
          text("code", "def add(a, b):\n    return a +", "b"),
          text("quote", "To be, or not to be, that is the", "question"),
          text("states", "The United States of", "America"),
          text("romeo", "The most famous play of Shakespeare is Romeo and", "Juliet"),
          chat("yes or no", "Is the sky blue? Answer with yes or no."),
          chat("say hello", "Say the word hello and nothing else."),
          chat("two and two", "What is 2+2? Answer with the number alone."),
          chat("greeting", "Hello!"),
          chat("unicode", "Übersetze «größer» — 日本語 — 🦊: one word."),
          chat("capital", "What is the capital of France?"),
          chat("thanks", "Thank you very much for your help!"),
          chat("joke", "Tell me a joke."),
          chat("who", "Who are you?"),
          chat("list", "Name three colours."));

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

  private static Question text(String name, String text, String known) {
    return new Question(name, false, text, known);
  }

  private static Question chat(String name, String text) {
    return new Question(name, true, text, "");
  }

  static Optional<Question> named(String name) {
    return ALL.stream().filter(each -> each.name().equals(name)).findFirst();
  }
}
