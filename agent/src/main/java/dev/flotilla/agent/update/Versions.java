package dev.flotilla.agent.update;

import dev.flotilla.wire.release.Release;
import dev.flotilla.wire.release.ReleaseVersion;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * {@code HOME/versions}, where an agent and its launcher meet: unpacked versions, and the notes
 * that docs/update.md lists. The launcher alone moves {@code current} and writes {@code before} and
 * {@code over}; the agent alone writes {@code next} and {@code accepted}.
 *
 * <p>Invariant: a folder with a version's name is whole. It is made under another name and renamed,
 * as every note is, so whoever is killed leaves the old state or the new one. The caller holds the
 * home's lock.
 */
public final class Versions {
  private static final String DIGEST = "release.sha256";
  private static final String TOLD = "told";
  private static final int NOTE_BYTES_MAX = 8 << 10;

  private final Path folder;

  public Versions(Path home) {
    this.folder = home.resolve("versions");
  }

  /**
   * A version that was given up here.
   *
   * @param attempt which offer of it that was
   * @param reason the end of a sentence
   * @param told whether a hub was told
   */
  public record Failure(String version, long attempt, String reason, boolean told) {}

  Path folder() {
    return folder;
  }

  /** Where what has arrived of a release is kept; its name is the release's content. */
  Path part(Release release) throws IOException {
    return Files.createDirectories(folder.resolve("fetch")).resolve(release.sha256() + ".part");
  }

  /** Whether exactly this release is unpacked. */
  boolean has(Release release) throws IOException {
    return note(folder.resolve(release.version()).resolve(DIGEST))
        .map(lines -> lines.getFirst().equals(release.sha256()))
        .orElse(false);
  }

  /** An empty folder to unpack into; one that was left over is emptied. */
  Path fresh() throws IOException {
    Path fresh = folder.resolve("fetch").resolve("unpacking");
    delete(fresh);
    return Files.createDirectories(fresh);
  }

  /** What was unpacked is whole: from now on it is that version. */
  void land(Path unpacked, Release release) throws IOException {
    write(unpacked.resolve(DIGEST), release.sha256());
    Path target = folder.resolve(release.version());
    delete(target);
    Files.move(unpacked, target, StandardCopyOption.ATOMIC_MOVE);
  }

  /** The launcher shall start this one next. */
  void next(String version, long attempt) throws IOException {
    Files.deleteIfExists(folder.resolve("failed").resolve(version));
    write(folder.resolve("next"), version + " " + attempt);
  }

  /** Whether the version that runs is on trial: the launcher waits for {@link #accepted}. */
  boolean onTrial() {
    return Files.exists(folder.resolve("before"));
  }

  /** The hub took this version in. Of the others, the one before is kept. */
  void accepted(String version) throws IOException {
    prune(version);
    write(folder.resolve("accepted"), version);
  }

  Optional<Failure> failure(String version) throws IOException {
    return note(folder.resolve("failed").resolve(version))
        .filter(lines -> lines.size() >= 2 && lines.getFirst().matches("\\d{1,18}"))
        .map(lines ->
            new Failure(
                version,
                Long.parseLong(lines.getFirst()),
                lines.get(1),
                lines.size() > 2 && lines.get(2).equals(TOLD)));
  }

  /** Every version that was given up here. */
  List<Failure> failures() throws IOException {
    List<Failure> failures = new ArrayList<>();
    Path failed = folder.resolve("failed");
    if (Files.isDirectory(failed)) {
      try (Stream<Path> files = Files.list(failed)) {
        for (Path file : files.sorted().toList()) {
          String version = String.valueOf(file.getFileName());
          if (ReleaseVersion.isOne(version)) {
            failure(version).ifPresent(failures::add);
          }
        }
      }
    }
    return failures;
  }

  /** A version is given up here, or is known to be. */
  void keep(Failure failure) throws IOException {
    Files.createDirectories(folder.resolve("failed"));
    write(
        folder.resolve("failed").resolve(failure.version()),
        failure.attempt() + "\n" + failure.reason() + "\n" + (failure.told() ? TOLD : ""));
  }

  private void prune(String running) throws IOException {
    Optional<String> before = note(folder.resolve("before")).map(List::getFirst);
    try (Stream<Path> all = Files.list(folder)) {
      for (Path each : all.toList()) {
        String name = String.valueOf(each.getFileName());
        if (ReleaseVersion.isOne(name)
            && !name.equals(running)
            && !before.map(name::equals).orElse(true)) {
          delete(each);
        }
      }
    }
    delete(folder.resolve("fetch"));
  }

  private static Optional<List<String>> note(Path file) throws IOException {
    try {
      if (Files.size(file) > NOTE_BYTES_MAX) {
        return Optional.empty();
      }
      List<String> lines =
          new String(Files.readAllBytes(file), StandardCharsets.UTF_8).lines().toList();
      return lines.isEmpty() ? Optional.empty() : Optional.of(lines);
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
  }

  private static void write(Path file, String text) throws IOException {
    Path fresh = file.resolveSibling(file.getFileName() + ".new");
    try (FileChannel channel =
        FileChannel.open(
            fresh,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      ByteBuffer bytes = ByteBuffer.wrap((text + "\n").getBytes(StandardCharsets.UTF_8));
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      channel.force(true);
    }
    Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  /** With all that is in it; links are removed, not followed. */
  private static void delete(Path path) throws IOException {
    if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    try (Stream<Path> all = Files.walk(path)) {
      for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(each);
      }
    }
  }
}
