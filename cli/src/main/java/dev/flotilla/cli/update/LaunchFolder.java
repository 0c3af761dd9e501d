package dev.flotilla.cli.update;

import dev.flotilla.wire.release.ReleaseVersion;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.Optional;

/**
 * What flotilla is started from: its jars, the launcher, java's options, and what it is called.
 *
 * <p>In an unpacked release all of it is in one folder. A build has its jars and its version in
 * {@code cli/target}, and the rest in the source tree.
 *
 * @param folder has {@code lib/} and {@code version}
 */
public record LaunchFolder(Path folder) {

  /** That of this process; empty where it runs from class files. */
  public static Optional<LaunchFolder> ofThisProcess() {
    CodeSource source = LaunchFolder.class.getProtectionDomain().getCodeSource();
    if (source == null || source.getLocation() == null) {
      return Optional.empty();
    }
    try {
      URI location = source.getLocation().toURI();
      Path jar = Path.of(location);
      Path lib = jar.getParent();
      Path folder = lib == null ? null : lib.getParent();
      return folder != null && jar.endsWith(Path.of("lib", "flotilla-cli.jar"))
          ? Optional.of(new LaunchFolder(folder))
          : Optional.empty();
    } catch (URISyntaxException | IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /** What it is called; empty where it has no name, or one that nobody could order. */
  public Optional<String> version() {
    try {
      return Optional.of(Files.readString(folder.resolve("version")).strip())
          .filter(ReleaseVersion::isOne);
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  Path lib() {
    return folder.resolve("lib");
  }

  Path launcher() {
    return isRelease() ? folder.resolve("flotilla") : folder.resolve("../../flotilla").normalize();
  }

  Path options() {
    return isRelease()
        ? folder.resolve("java.options")
        : folder.resolve("../java.options").normalize();
  }

  /** Of the built-in engine's JVM. */
  Path engineOptions() {
    return isRelease()
        ? folder.resolve("builtin.options")
        : folder
            .resolve("../../agent/src/main/resources/dev/flotilla/agent/engine/builtin.options")
            .normalize();
  }

  private boolean isRelease() {
    return Files.exists(folder.resolve("flotilla"));
  }
}
