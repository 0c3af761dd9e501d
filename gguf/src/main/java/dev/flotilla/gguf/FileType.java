package dev.flotilla.gguf;

import java.util.Map;

/** Words for {@code general.file_type} (llama.cpp's {@code llama_ftype}). */
final class FileType {
  private static final Map<Integer, String> WORDS =
      Map.ofEntries(
          Map.entry(0, "F32"),
          Map.entry(1, "F16"),
          Map.entry(2, "Q4_0"),
          Map.entry(3, "Q4_1"),
          Map.entry(7, "Q8_0"),
          Map.entry(8, "Q5_0"),
          Map.entry(9, "Q5_1"),
          Map.entry(10, "Q2_K"),
          Map.entry(11, "Q3_K_S"),
          Map.entry(12, "Q3_K_M"),
          Map.entry(13, "Q3_K_L"),
          Map.entry(14, "Q4_K_S"),
          Map.entry(15, "Q4_K_M"),
          Map.entry(16, "Q5_K_S"),
          Map.entry(17, "Q5_K_M"),
          Map.entry(18, "Q6_K"),
          Map.entry(19, "IQ2_XXS"),
          Map.entry(20, "IQ2_XS"),
          Map.entry(21, "Q2_K_S"),
          Map.entry(22, "IQ3_XS"),
          Map.entry(23, "IQ3_XXS"),
          Map.entry(24, "IQ1_S"),
          Map.entry(25, "IQ4_NL"),
          Map.entry(26, "IQ3_S"),
          Map.entry(27, "IQ3_M"),
          Map.entry(28, "IQ2_S"),
          Map.entry(29, "IQ2_M"),
          Map.entry(30, "IQ4_XS"),
          Map.entry(31, "IQ1_M"),
          Map.entry(32, "BF16"),
          Map.entry(36, "TQ1_0"),
          Map.entry(37, "TQ2_0"),
          Map.entry(38, "MXFP4_MOE"),
          Map.entry(39, "NVFP4"),
          Map.entry(40, "Q1_0"),
          Map.entry(41, "Q2_0"));

  /** Set in the number where the writer only guessed the type. */
  private static final long GUESSED = 1024;

  private FileType() {}

  static String word(long type) {
    long known = type & ~GUESSED;
    String word = known >= 0 && known < GUESSED ? WORDS.get((int) known) : null;
    return word == null ? "type " + type : word;
  }
}
