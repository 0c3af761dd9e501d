package dev.flotilla.cli.output;

import java.nio.file.Files;
import java.nio.file.Path;

/** A file that an option names, looked at before anything starts. */
public final class NamedFile {
  private NamedFile() {}

  /**
   * The file, which is there and can be read.
   *
   * @param option as it was typed, for the message
   * @throws WrongUsage where it is not
   */
  public static Path readable(String option, Path file) {
    String what = option + ": ";
    if (file.toString().isEmpty()) {
      throw new WrongUsage(what + "names no file");
    }
    if (Files.isDirectory(file)) {
      throw new WrongUsage(what + file + " is a folder, not a file");
    }
    if (!Files.exists(file)) {
      throw new WrongUsage(what + "there is no file " + file);
    }
    if (!Files.isReadable(file)) {
      throw new WrongUsage(what + "no permission to read " + file);
    }
    return file;
  }

  /** The file, which is there and can be started. */
  public static Path program(String option, Path file) {
    Path there = readable(option, file);
    if (!Files.isExecutable(there)) {
      throw new WrongUsage(option + ": " + file + " is no program that can be started");
    }
    return there;
  }
}
