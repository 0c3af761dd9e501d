package dev.flotilla.cli.output;

import java.io.IOException;
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

  /**
   * The file, which can be written when there is something to write. No folder is made for it: a
   * path that was mistyped would be filled with folders that nobody wanted.
   *
   * @param option as it was typed, for the message
   * @throws WrongUsage where it can't
   */
  public static Path writable(String option, Path file) {
    String what = option + ": ";
    if (file.toString().isEmpty()) {
      throw new WrongUsage(what + "names no file");
    }
    if (Files.isDirectory(file)) {
      throw new WrongUsage(what + file + " is a folder, not a file");
    }
    Path parent = file.toAbsolutePath().getParent();
    if (parent != null) {
      folder(option, parent);
    }
    if (Files.exists(file) && !Files.isWritable(file)) {
      throw new WrongUsage(what + "no permission to write " + file);
    }
    return file;
  }

  /** The folder, which is there and takes new files. */
  public static Path folder(String option, Path folder) {
    String what = option + ": ";
    if (!Files.exists(folder)) {
      throw new WrongUsage(what + "there is no folder " + folder);
    }
    if (!Files.isDirectory(folder)) {
      throw new WrongUsage(what + folder + " is a file, not a folder");
    }
    // A device has its folder, in which nobody writes anything new.
    if (!Files.isWritable(folder) && !folder.startsWith("/dev")) {
      throw new WrongUsage(what + "no permission to write in " + folder);
    }
    return folder;
  }

  /** The folder, which takes new files; made where there is none, with those that it is in. */
  public static Path newFolder(String option, Path folder) {
    try {
      if (!Files.exists(folder)) {
        Files.createDirectories(folder);
      }
    } catch (IOException e) {
      throw new WrongUsage(
          option
              + ": can't make the folder "
              + folder
              + ": there is no permission for that, or a file is in its way",
          e);
    }
    return folder(option, folder);
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
