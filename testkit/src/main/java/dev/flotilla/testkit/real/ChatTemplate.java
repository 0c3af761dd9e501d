package dev.flotilla.testkit.real;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** Chat templates of our own, with which the {@link SmallModel} does what its own can't. */
public enum ChatTemplate {
  /** ChatML that tells the model of its tools and writes calls as Hermes does. */
  TOOLS,

  /**
   * The same of a model that thinks: the prompt of an answer opens the thought, unless {@code
   * enable_thinking} is false.
   */
  THINK,

  /**
   * For {@link SmallModel#thinkingFolder()}: the thought that the prompt opens begins with words,
   * for behind the bare tag, a token that it was never trained on, the model would end at once.
   * Where {@code enable_thinking} is false there are no tags.
   */
  THINK_ALOUD;

  /** The template as a file, in the tests' cache. */
  public Path file() {
    try {
      return SmallModel.resource("templates/", fileName());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The template's text. */
  public String text() {
    try {
      return Files.readString(file());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String fileName() {
    return name().toLowerCase(Locale.ROOT) + ".jinja";
  }
}
