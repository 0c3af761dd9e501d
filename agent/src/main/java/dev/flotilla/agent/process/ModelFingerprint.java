package dev.flotilla.agent.process;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

/**
 * By what two launches tell whether they read the same model: the size, the time of change and the
 * first {@value #HEAD_BYTES} bytes of its file, of a folder those of each file in it. Reading all
 * of many gigabytes at each start would take longer than the start.
 */
final class ModelFingerprint {
  private static final int HEAD_BYTES = 1 << 20;
  private static final int FILES_MAX = 1_000;
  private static final int SHOWN_BYTES = 16;

  private ModelFingerprint() {}

  /**
   * The fingerprint, 32 hexadecimal digits.
   *
   * @param model a file, or a folder of at most {@value #FILES_MAX} files
   * @return empty where it can't be read: then nothing is known of what lies there
   */
  static String of(Path model) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      for (Path file : files(model)) {
        String head =
            "%s %d %d\n"
                .formatted(
                    model.relativize(file),
                    Files.size(file),
                    Files.getLastModifiedTime(file).toMillis());
        digest.update(head.getBytes(UTF_8));
        try (InputStream in = Files.newInputStream(file)) {
          digest.update(in.readNBytes(HEAD_BYTES));
        }
      }
      return HexFormat.of().formatHex(digest.digest(), 0, SHOWN_BYTES);
    } catch (IOException e) {
      return "";
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private static List<Path> files(Path model) throws IOException {
    if (Files.isRegularFile(model)) {
      return List.of(model);
    }
    try (Stream<Path> all = Files.walk(model)) {
      List<Path> files = all.filter(Files::isRegularFile).sorted().limit(FILES_MAX + 1L).toList();
      if (files.isEmpty() || files.size() > FILES_MAX) {
        throw new IOException(model + " has no files, or more than " + FILES_MAX);
      }
      return files;
    }
  }
}
