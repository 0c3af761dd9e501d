package dev.flotilla.wire.files;

import java.nio.file.FileSystems;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * Attributes of new files and folders that no other user of the machine can look into: state
 * folders hold credentials, and who asked for what. Where the file system knows no such thing they
 * are none.
 */
public final class OwnerOnly {
  private OwnerOnly() {}

  /** For {@code Files.createDirectories}: also of the folders above it that are made with it. */
  public static FileAttribute<?>[] folder() {
    return mode("rwx------");
  }

  /** For {@code Files.createFile}. */
  public static FileAttribute<?>[] file() {
    return mode("rw-------");
  }

  private static FileAttribute<?>[] mode(String permissions) {
    boolean posix = FileSystems.getDefault().supportedFileAttributeViews().contains("posix");
    return posix
        ? new FileAttribute<?>[] {
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
        }
        : new FileAttribute<?>[0];
  }
}
