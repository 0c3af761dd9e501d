package dev.flotilla.cli.update;

import dev.flotilla.cli.output.Failure;
import dev.flotilla.cli.output.Text;
import dev.flotilla.wire.release.Release;
import dev.flotilla.wire.release.ReleaseKey;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.LocalDateTime;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.Deflater;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipOutputStream;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * A release on the disk: {@code flotilla-VERSION.zip}, and beside it {@code .json} with what was
 * signed. The same build gives the same bytes.
 *
 * @param file the archive
 */
public record ReleaseFile(Path file, Release release) {
  private static final JsonMapper JSON =
      JsonMapper.builder()
          .enable(
              DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES,
              DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
          .build();
  private static final String NOTE = ".json";
  private static final int NOTE_BYTES_MAX = 64 << 10;

  /** What every entry says of its age: a release is no older than another by its files. */
  private static final LocalDateTime NO_TIME = LocalDateTime.of(2000, 1, 1, 0, 0);

  /**
   * Makes a release of what a launch folder holds.
   *
   * @param pem the private key, a secret
   * @param out where the two files go
   * @throws IOException where a file can't be read or written, or the key is none
   */
  public static ReleaseFile make(LaunchFolder folder, String pem, Path out) throws IOException {
    String version =
        folder
            .version()
            .orElseThrow(() ->
                new Failure(
                    "there is no version in "
                        + folder.folder()
                        + ": build it first, with './flotilla --version' or 'mvn package'"));
    Path file = out.resolve(Release.fileName(version));
    Path fresh = out.resolve(Release.fileName(version) + ".new");
    try {
      write(folder, version, fresh);
      Release unsigned = new Release(version, Files.size(fresh), sha256(fresh), "");
      Release release =
          new Release(
              version,
              unsigned.bytes(),
              unsigned.sha256(),
              ReleaseKey.sign(pem, unsigned.signedBytes()));
      release
          .problem()
          .ifPresent(problem -> {
            throw new Failure("no agent would take this release: " + problem);
          });
      Files.write(noteOf(file), JSON.writeValueAsBytes(release));
      Files.move(fresh, file, StandardCopyOption.REPLACE_EXISTING);
      return new ReleaseFile(file, release);
    } finally {
      Files.deleteIfExists(fresh);
    }
  }

  /**
   * Reads a release that was made before.
   *
   * @throws IOException where it can't be read
   */
  public static ReleaseFile read(Path file) throws IOException {
    Path note = noteOf(file);
    if (!Files.exists(note)) {
      throw new Failure(
          "beside "
              + file
              + " there is no "
              + note.getFileName()
              + ", which has its signature; 'flotilla release' makes both");
    }
    if (Files.size(note) > NOTE_BYTES_MAX) {
      throw new Failure(note + " is no release's: it is too large");
    }
    try {
      Release release = JSON.readValue(Files.readAllBytes(note), Release.class);
      return new ReleaseFile(file, release);
    } catch (JacksonException e) {
      throw new Failure(
          note + " is no release's: it is not the JSON that 'flotilla release' writes", e);
    }
  }

  /**
   * This release, where its archive is the one that was signed, and calls itself so.
   *
   * @throws Failure where it is not
   * @throws IOException where it can't be read
   */
  ReleaseFile verified() throws IOException {
    String note = String.valueOf(noteOf(file).getFileName());
    long bytes = Files.size(file);
    if (bytes != release.bytes()) {
      throw notOne(
          "has " + bytes + " bytes, and " + note + " says " + release.bytes(),
          bytes < release.bytes() ? "it was cut short" : "it is another file");
    }
    String digest = sha256(file);
    if (!digest.equals(release.sha256())) {
      throw notOne(
          "has SHA-256 " + digest + ", and " + note + " says " + release.sha256(),
          "it was changed");
    }
    String own;
    try {
      own = Release.versionIn(file);
    } catch (ZipException e) {
      throw new Failure(file + " is no release's archive: " + e.getMessage(), e);
    }
    if (!own.equals(release.version())) {
      throw notOne(
          "calls itself version "
              + Text.printable(own)
              + ", and "
              + note
              + " says "
              + release.version(),
          "the two are not of one release");
    }
    return this;
  }

  private Failure notOne(String what, String why) {
    return new Failure(file + " " + what + ": " + why + "; 'flotilla release' makes both anew");
  }

  static Path noteOf(Path file) {
    return file.resolveSibling(file.getFileName() + NOTE);
  }

  private static void write(LaunchFolder folder, String version, Path file) throws IOException {
    Map<String, Path> entries = new TreeMap<>();
    entries.put("flotilla", folder.launcher());
    entries.put("java.options", folder.options());
    entries.put("builtin.options", folder.engineOptions());
    entries.put("version", folder.folder().resolve("version"));
    try (Stream<Path> jars = Files.list(folder.lib())) {
      jars.filter(jar -> jar.toString().endsWith(".jar"))
          .forEach(jar -> entries.put("lib/" + jar.getFileName(), jar));
    }
    try (OutputStream out = Files.newOutputStream(file);
        ZipOutputStream zip = new ZipOutputStream(out)) {
      zip.setLevel(Deflater.BEST_SPEED);
      zip.setComment("flotilla " + version);
      for (Map.Entry<String, Path> each : entries.entrySet()) {
        ZipEntry entry = new ZipEntry(each.getKey());
        entry.setTimeLocal(NO_TIME);
        zip.putNextEntry(entry);
        Files.copy(each.getValue(), zip);
        zip.closeEntry();
      }
    }
  }

  private static String sha256(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      byte[] buffer = new byte[64 << 10];
      for (int count; (count = in.read(buffer)) >= 0; ) {
        digest.update(buffer, 0, count);
      }
      return HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
