package dev.flotilla.cli.serve;

import dev.flotilla.cli.output.NamedFile;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.cli.output.WrongUsage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The key that an engine demands: from the environment, or from a file that its owner alone can
 * read. Never from the command line, which every user of the machine sees.
 */
final class EngineKey {
  static final String VARIABLE = "FLOTILLA_ENGINE_KEY";
  private static final int CHARACTERS_MAX = 512;
  private static final Set<PosixFilePermission> OWNERS =
      EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);

  private EngineKey() {}

  /**
   * The key, empty where none is said.
   *
   * @throws WrongUsage where it can't be one, or others can read its file
   */
  static String read(@Nullable Path file, Shell shell) {
    Optional<String> variable = shell.variable(VARIABLE).filter(value -> !value.isBlank());
    if (file == null) {
      return variable.map(value -> checked(value.strip(), VARIABLE)).orElse("");
    }
    if (variable.isPresent()) {
      throw new WrongUsage("--api-key-file and " + VARIABLE + " exclude each other");
    }
    NamedFile.readable("--api-key-file", file);
    try {
      if (Files.getFileStore(file).supportsFileAttributeView("posix")
          && !OWNERS.containsAll(Files.getPosixFilePermissions(file))) {
        throw new WrongUsage("--api-key-file: others can read " + file + "; chmod 600 it");
      }
      return checked(Files.readString(file).strip(), "--api-key-file");
    } catch (IOException e) {
      throw new WrongUsage("--api-key-file: " + file + " can't be read: " + e.getMessage(), e);
    }
  }

  private static String checked(String key, String where) {
    if (key.isEmpty()
        || key.length() > CHARACTERS_MAX
        || !key.chars().allMatch(c -> c > ' ' && c < 127)) {
      throw new WrongUsage(
          where + ": a key is 1 to " + CHARACTERS_MAX + " visible ASCII characters");
    }
    return key;
  }
}
