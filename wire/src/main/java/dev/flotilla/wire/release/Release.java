package dev.flotilla.wire.release;

import dev.flotilla.wire.text.Names;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipFile;

/**
 * One version of flotilla as a file, and what its maker signed.
 *
 * @param version as {@link ReleaseVersion} reads it
 * @param bytes size of the file
 * @param sha256 of the file, in lower-case hexadecimal
 * @param signature Ed25519 over {@link #signedBytes}, in base64
 */
public record Release(String version, long bytes, String sha256, String signature) {
  /** Largest file of a release, 64 MiB: what a hub takes in as one body. */
  public static final long BYTES_MAX = 64L << 20;

  private static final int VERSION_BYTES_MAX = 1 << 10;
  private static final Pattern SHA256 = Pattern.compile("[0-9a-f]{64}");
  private static final Pattern SIGNATURE = Pattern.compile("[A-Za-z0-9+/]{86}==");

  /** The file's name. */
  public static String fileName(String version) {
    return "flotilla-" + version + ".zip";
  }

  /**
   * What an archive calls itself.
   *
   * @throws IOException where it is no archive, or not a release's
   */
  public static String versionIn(Path archive) throws IOException {
    try (ZipFile zip = new ZipFile(archive.toFile(), StandardCharsets.UTF_8)) {
      ZipEntry entry = zip.getEntry("version");
      if (entry == null) {
        throw new ZipException("it has no version");
      }
      try (InputStream in = zip.getInputStream(entry)) {
        return new String(in.readNBytes(VERSION_BYTES_MAX), StandardCharsets.UTF_8).strip();
      }
    }
  }

  /** What is signed: every word that decides what will run, under a heading of its own. */
  public byte[] signedBytes() {
    return ("flotilla release\n" + version + "\n" + bytes + "\n" + sha256 + "\n")
        .getBytes(StandardCharsets.US_ASCII);
  }

  /** What is wrong with its form, one sentence; nothing says that the signature is anybody's. */
  public Optional<String> problem() {
    if (!ReleaseVersion.isOne(version)) {
      return Optional.of(
          "a release's version is like 0.1.0+412.g4cad8a3, not " + Names.shown(version));
    }
    if (bytes < 1 || bytes > BYTES_MAX) {
      return Optional.of(
          "a release has 1 to "
              + BYTES_MAX
              + " bytes ("
              + (BYTES_MAX >> 20)
              + " MiB), not "
              + bytes);
    }
    if (!SHA256.matcher(sha256).matches()) {
      return Optional.of("a release's SHA-256 is 64 hexadecimal digits in lower case");
    }
    return SIGNATURE.matcher(signature).matches()
        ? Optional.empty()
        : Optional.of("a release's signature is 64 bytes in base64");
  }
}
