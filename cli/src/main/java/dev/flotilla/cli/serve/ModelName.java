package dev.flotilla.cli.serve;

import java.text.Normalizer;
import java.util.Locale;
import java.util.regex.Pattern;

/** The public name of a model that was named by its source alone. */
public final class ModelName {
  private static final int CHARACTERS_MAX = 64;

  /** How a file's name says what its weights were quantised to, at its end. */
  private static final Pattern QUANTISATION =
      Pattern.compile("[.-](ud-)?(i?q\\d\\w*|b?f16|f32|mxfp4\\w*|fp8\\w*)$");

  private static final Pattern ACCENTS = Pattern.compile("\\p{M}+");

  private ModelName() {}

  /** {@code hf:o/r/Qwen3-4B-Q4_K_M.gguf} becomes {@code qwen3-4b}. */
  public static String of(String source) {
    String file = source.substring(Math.max(source.lastIndexOf('/'), source.lastIndexOf('\\')) + 1);
    String name = ACCENTS.matcher(Normalizer.normalize(file, Normalizer.Form.NFKD)).replaceAll("");
    name = name.toLowerCase(Locale.ROOT).replace("ß", "ss").replace("æ", "ae").replace("ø", "o");
    if (name.endsWith(".gguf")) {
      name = name.substring(0, name.length() - ".gguf".length());
    }
    name = QUANTISATION.matcher(name).replaceFirst("");
    name = name.replaceAll("[^a-z0-9._-]", "-").replaceAll("\\.\\.+", ".").replaceAll("--+", "-");
    if (name.length() > CHARACTERS_MAX) {
      name = name.substring(0, CHARACTERS_MAX);
    }
    name = name.replaceAll("^[^a-z0-9]+|[^a-z0-9]+$", "");
    return name.isEmpty() ? "model" : name;
  }
}
