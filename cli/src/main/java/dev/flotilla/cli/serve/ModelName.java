package dev.flotilla.cli.serve;

import java.util.Locale;
import java.util.regex.Pattern;

/** The public name of a model that was named by its source alone. */
final class ModelName {
  private static final int CHARACTERS_MAX = 64;

  /** How a file's name says what its weights were quantised to, at its end. */
  private static final Pattern QUANTISATION =
      Pattern.compile("[.-](ud-)?(i?q\\d\\w*|b?f16|f32|mxfp4\\w*|fp8\\w*)$");

  private ModelName() {}

  /** {@code hf:o/r/Qwen3-4B-Q4_K_M.gguf} becomes {@code qwen3-4b}. */
  static String of(String source) {
    String file = source.substring(Math.max(source.lastIndexOf('/'), source.lastIndexOf('\\')) + 1);
    String name = file.toLowerCase(Locale.ROOT);
    if (name.endsWith(".gguf")) {
      name = name.substring(0, name.length() - ".gguf".length());
    }
    name = QUANTISATION.matcher(name).replaceFirst("");
    name = name.replaceAll("[^a-z0-9._-]", "-").replaceAll("\\.\\.+", ".");
    name = name.replaceAll("^[^a-z0-9]+", "");
    if (name.length() > CHARACTERS_MAX) {
      name = name.substring(0, CHARACTERS_MAX);
    }
    return name.isEmpty() ? "model" : name;
  }
}
