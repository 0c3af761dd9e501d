package dev.flotilla.agent.update;

import dev.flotilla.wire.release.Release;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipFile;

/**
 * The file of a release, opened: names first, then bytes, each within its limit.
 *
 * <p>Only what a release consists of is let out of it. A name is one of four words, or {@code lib/}
 * and a jar's name without a slash; so no entry can lead out of the folder, be a link or lie over
 * another.
 */
final class ReleaseArchive {
  /**
   * Beside the jars: the launcher, its options for java, those for the built-in engine's, and what
   * this version is called.
   */
  private static final Set<String> FILES =
      Set.of("flotilla", "java.options", "builtin.options", "version");

  private static final Pattern JAR = Pattern.compile("lib/[A-Za-z0-9][A-Za-z0-9._+-]{0,127}\\.jar");
  private static final int SMALL_BYTES_MAX = 1 << 20;
  private static final int BUFFER_BYTES = 128 << 10;

  private ReleaseArchive() {}

  /**
   * Unpacks a release into an empty folder.
   *
   * @throws UpdateFailed where it is no release, or not the one that it should be
   * @throws IOException where it can't be written
   */
  static void unpack(Path archive, Path folder, Release release, UpdateLimits limits)
      throws UpdateFailed, IOException {
    Files.createDirectories(folder.resolve("lib"));
    try (ZipFile zip = new ZipFile(archive.toFile(), StandardCharsets.UTF_8)) {
      long left = limits.unpackedBytesMax();
      for (ZipEntry entry : entries(zip, limits)) {
        Path file = folder.resolve(entry.getName());
        left -= write(zip, entry, file, Math.min(left, largest(entry.getName(), left)));
      }
    } catch (ZipException e) {
      throw new UpdateFailed("its file is no archive: " + e.getMessage());
    }
    for (String needed : FILES) {
      if (!Files.exists(folder.resolve(needed))) {
        throw new UpdateFailed("its archive has no " + needed);
      }
    }
    String version = Files.readString(folder.resolve("version"), StandardCharsets.UTF_8).strip();
    if (!version.equals(release.version())) {
      throw new UpdateFailed("its archive calls itself another version");
    }
    if (!folder.resolve("flotilla").toFile().setExecutable(true)) {
      throw new IOException("the launcher can't be made executable");
    }
  }

  /** What it unpacks to, by its own word: the real size is bounded while it is written. */
  static long saidBytes(Path archive, UpdateLimits limits) throws UpdateFailed, IOException {
    try (ZipFile zip = new ZipFile(archive.toFile(), StandardCharsets.UTF_8)) {
      long sum = 0;
      for (ZipEntry entry : entries(zip, limits)) {
        sum += Math.max(0, entry.getSize());
      }
      return sum;
    } catch (ZipException e) {
      throw new UpdateFailed("its file is no archive: " + e.getMessage());
    }
  }

  private static List<? extends ZipEntry> entries(ZipFile zip, UpdateLimits limits)
      throws UpdateFailed {
    if (zip.size() > limits.entriesMax()) {
      throw new UpdateFailed("its archive has more than " + limits.entriesMax() + " files");
    }
    List<? extends ZipEntry> entries = Collections.list(zip.entries());
    Set<String> names = new HashSet<>();
    for (ZipEntry entry : entries) {
      if (!FILES.contains(entry.getName()) && !JAR.matcher(entry.getName()).matches()) {
        throw new UpdateFailed("its archive has a file that no release has");
      }
      if (!names.add(entry.getName())) {
        throw new UpdateFailed("its archive has " + entry.getName() + " twice");
      }
    }
    return entries;
  }

  private static long largest(String name, long otherwise) {
    return FILES.contains(name) ? SMALL_BYTES_MAX : otherwise;
  }

  /** Writes one file to the disk itself; its size. */
  private static long write(ZipFile zip, ZipEntry entry, Path file, long bytesMax)
      throws UpdateFailed, IOException {
    byte[] buffer = new byte[BUFFER_BYTES];
    long written = 0;
    try (InputStream in = zip.getInputStream(entry);
        FileChannel out =
            FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      for (int count; (count = in.read(buffer)) >= 0; ) {
        written += count;
        if (written > bytesMax) {
          throw new UpdateFailed(
              "its archive is too large unpacked: " + entry.getName() + " goes beyond the limit");
        }
        ByteBuffer bytes = ByteBuffer.wrap(buffer, 0, count);
        while (bytes.hasRemaining()) {
          out.write(bytes);
        }
      }
      out.force(true);
    }
    return written;
  }
}
