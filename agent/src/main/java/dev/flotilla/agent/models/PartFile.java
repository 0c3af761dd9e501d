package dev.flotilla.agent.models;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * The beginning of a file that is being fetched, {@code NAME.part}, with the note {@code
 * NAME.part.json} that says which version of the remote file it is a beginning of.
 *
 * <p>Invariants: {@link #length()} is the file's size, and the digest has seen exactly those bytes;
 * the bytes all come from the version that the note names. A beginning without a readable note is
 * thrown away, since nothing says what it begins. One thread at a time; the store's lock on the
 * file keeps other threads and processes out.
 */
final class PartFile implements AutoCloseable {

  /**
   * What the remote file was when its first byte came.
   *
   * @param source which file it is, in words that stay the same over redirects
   * @param validator a strong ETag or a Last-Modified date for {@code If-Range}, empty where the
   *     server gave neither
   * @param size whole size, -1 where unknown
   */
  record Note(String source, String validator, long size) {}

  private static final JsonMapper JSON = JsonMapper.shared();
  private static final int READ_BYTES = 1 << 20;

  private final Path file;
  private final Path noteFile;
  private final FileChannel channel;
  private MessageDigest digest = sha256();
  private long length;
  private @Nullable Note note;

  private PartFile(Path file, FileChannel channel) {
    this.file = file;
    this.noteFile = noteOf(file);
    this.channel = channel;
  }

  /** Opens the beginning of {@code source}, or an empty one where there is none to go on from. */
  static PartFile open(Path file, String source) throws IOException {
    Files.createDirectories(file.toAbsolutePath().getParent());
    FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    PartFile part = new PartFile(file, channel);
    try {
      Note note = part.readNote();
      if (note != null && note.source().equals(source) && channel.size() > 0) {
        part.note = note;
        part.digestWhatIsThere();
      } else {
        part.restart();
      }
      return part;
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  long length() {
    return length;
  }

  /** Which version this is a beginning of; null where it is empty. */
  @Nullable Note note() {
    return note;
  }

  /** Forgets every byte. */
  void restart() throws IOException {
    channel.truncate(0);
    channel.position(0);
    digest = sha256();
    length = 0;
    note = null;
    Files.deleteIfExists(noteFile);
  }

  /** Says what the bytes to come belong to; written before the first of them. */
  void begin(Note version) throws IOException {
    note = version;
    Files.write(noteFile, JSON.writeValueAsBytes(version));
  }

  void append(byte[] bytes, int count) throws IOException {
    ByteBuffer buffer = ByteBuffer.wrap(bytes, 0, count);
    while (buffer.hasRemaining()) {
      channel.write(buffer);
    }
    digest.update(bytes, 0, count);
    length += count;
  }

  /** SHA-256 of all bytes, in lower-case hexadecimal; ends the digest. */
  String finish() throws IOException {
    channel.force(true);
    return HexFormat.of().formatHex(digest.digest());
  }

  /** Removes the file and its note. */
  void delete() throws IOException {
    channel.close();
    Files.deleteIfExists(noteFile);
    Files.deleteIfExists(file);
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }

  static Path noteOf(Path part) {
    return part.resolveSibling(part.getFileName() + ".json");
  }

  /** Renames {@code from} to {@code to} such that a crash leaves one or the other, whole. */
  static void land(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    try (FileChannel folder =
        FileChannel.open(to.toAbsolutePath().getParent(), StandardOpenOption.READ)) {
      folder.force(true);
    } catch (IOException e) {
      // Not every file system lets a folder be opened; the rename itself is done.
      System.getLogger(PartFile.class.getName())
          .log(System.Logger.Level.DEBUG, "The folder of {0} could not be synced: {1}", to, e);
    }
  }

  static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  private @Nullable Note readNote() throws IOException {
    if (!Files.isRegularFile(noteFile) || Files.size(noteFile) > READ_BYTES) {
      return null;
    }
    try {
      return JSON.readValue(Files.readAllBytes(noteFile), Note.class);
    } catch (JacksonException e) {
      return null;
    }
  }

  private void digestWhatIsThere() throws IOException {
    byte[] bytes = new byte[READ_BYTES];
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    channel.position(0);
    while (channel.read(buffer.clear()) >= 0) {
      digest.update(bytes, 0, buffer.position());
      length += buffer.position();
    }
  }
}
