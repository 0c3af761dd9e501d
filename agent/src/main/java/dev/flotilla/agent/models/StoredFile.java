package dev.flotilla.agent.models;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * A finished file of the store and the record {@code NAME.origin.json} beside it, which says where
 * the file came from and what it was.
 *
 * <p>The record is written before the file is renamed to its name, so a file without a record is
 * not the store's. A file of the recorded size and time is taken as it is; one of another time is
 * read and compared by digest; anything else is not the file any more.
 */
record StoredFile(Path file, Origin origin) {

  /**
   * @param source the reference
   * @param address where the bytes came from, without a query
   * @param modifiedMillis the file's time when it landed
   * @param commit the source's commit, empty where it has none
   */
  record Origin(
      String source,
      String address,
      long size,
      String sha256,
      long modifiedMillis,
      String commit) {}

  private static final JsonMapper JSON = JsonMapper.shared();
  private static final byte[] MAGIC = "GGUF".getBytes(StandardCharsets.US_ASCII);

  /** The file, where it is there and is what it was. */
  static Optional<StoredFile> find(Path file, Steps steps)
      throws IOException, InterruptedException {
    Path record = record(file);
    if (!Files.isRegularFile(file) || !Files.isRegularFile(record)) {
      return Optional.empty();
    }
    Origin origin;
    try {
      origin = JSON.readValue(Files.readAllBytes(record), Origin.class);
    } catch (JacksonException e) {
      return Optional.empty();
    }
    if (Files.size(file) != origin.size()) {
      return Optional.empty();
    }
    long modified = Files.getLastModifiedTime(file).toMillis();
    if (modified != origin.modifiedMillis()) {
      if (!digest(file, origin.size(), steps).equals(origin.sha256())) {
        return Optional.empty();
      }
      origin =
          new Origin(
              origin.source(),
              origin.address(),
              origin.size(),
              origin.sha256(),
              modified,
              origin.commit());
      Files.write(record, JSON.writeValueAsBytes(origin));
    }
    return Optional.of(new StoredFile(file, origin));
  }

  /** Gives a verified, closed part its name. */
  static void land(Path part, Path file, Origin origin) throws IOException {
    Origin timed =
        new Origin(
            origin.source(),
            origin.address(),
            origin.size(),
            origin.sha256(),
            Files.getLastModifiedTime(part).toMillis(),
            origin.commit());
    Files.write(record(file), JSON.writeValueAsBytes(timed));
    PartFile.land(part, file);
    Files.deleteIfExists(PartFile.noteOf(part));
  }

  /** Why the file can't be a model, as the end of a sentence; empty where it begins like one. */
  static String whyNotGguf(Path file) throws IOException {
    byte[] head;
    try (InputStream in = Files.newInputStream(file)) {
      head = in.readNBytes(64);
    }
    if (head.length == 0) {
      return "is empty";
    }
    if (head.length < MAGIC.length) {
      return "has only " + head.length + " bytes";
    }
    if (Arrays.equals(head, 0, MAGIC.length, MAGIC, 0, MAGIC.length)) {
      return "";
    }
    String text = new String(head, StandardCharsets.ISO_8859_1).strip();
    String lower = text.toLowerCase(Locale.ROOT);
    if (lower.startsWith("<!doctype") || lower.startsWith("<html") || lower.startsWith("<?xml")) {
      return "is a web page, not a GGUF file; perhaps the address needs a login";
    }
    if (text.startsWith("version https://git-lfs")) {
      return "is a Git LFS pointer, not the file that it points to";
    }
    return "is not a GGUF file: it begins with the bytes "
        + HexFormat.ofDelimiter(" ").formatHex(head, 0, Math.min(head.length, 8))
        + " instead of 'GGUF'";
  }

  private static Path record(Path file) {
    return file.resolveSibling(file.getFileName() + ".origin.json");
  }

  private static String digest(Path file, long size, Steps steps)
      throws IOException, InterruptedException {
    MessageDigest digest = PartFile.sha256();
    byte[] buffer = new byte[1 << 20];
    long done = 0;
    try (InputStream in = Files.newInputStream(file)) {
      for (int count; (count = in.read(buffer)) >= 0; ) {
        if (Thread.interrupted()) {
          throw new InterruptedException("interrupted while verifying");
        }
        digest.update(buffer, 0, count);
        done += count;
        steps.at("verifying", done, size);
      }
    }
    return HexFormat.of().formatHex(digest.digest());
  }
}
