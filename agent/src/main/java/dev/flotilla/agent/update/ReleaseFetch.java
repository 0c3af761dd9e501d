package dev.flotilla.agent.update;

import dev.flotilla.agent.engine.ProgressListener;
import dev.flotilla.agent.lanes.ReleaseSource;
import dev.flotilla.wire.release.Release;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;

/**
 * Fetches a release's file, whatever the connection does.
 *
 * <p>The part's name is the release's digest, so what lies there is the beginning of this file or
 * of nothing: a try goes on behind it. Tries in a row that bring nothing are counted; what another
 * try can't cure fails at once. At the end size and digest decide, and a part that is wrong is
 * deleted.
 */
public final class ReleaseFetch {
  private static final int BUFFER_BYTES = 128 << 10;
  private static final long TELL_BYTES = 1 << 20;
  private static final String STEP = "fetching the new version";
  private static final System.Logger LOG = System.getLogger(ReleaseFetch.class.getName());

  /** Where releases come from. */
  public interface Source {
    ReleaseSource.Opened open(String version, long from, Duration silence) throws IOException;
  }

  private final Source source;
  private final UpdateLimits limits;
  private final ProgressListener listener;

  ReleaseFetch(Source source, UpdateLimits limits, ProgressListener listener) {
    this.source = source;
    this.limits = limits;
    this.listener = listener;
  }

  /**
   * Brings {@code part} to the release's whole, verified content.
   *
   * @throws UpdateFailed where it can't be had; what arrived is kept, unless it is wrong
   */
  void fetch(Release release, Path part) throws UpdateFailed, IOException, InterruptedException {
    String subject = "flotilla " + release.version();
    int inARow = 0;
    while (size(part) < release.bytes()) {
      long before = size(part);
      String trouble;
      try {
        receive(release, part, before, subject);
        trouble = "the connection ended early";
      } catch (ReleaseSource.Refused e) {
        throw new UpdateFailed("the hub does not hand it out: " + e.getMessage());
      } catch (WriteFailed e) {
        throw new UpdateFailed(
            "it can't be written to " + part.getParent() + ": " + e.getMessage());
      } catch (IOException e) {
        trouble = String.valueOf(e.getMessage());
      }
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      if (size(part) >= release.bytes()) {
        break;
      }
      inARow = size(part) > before ? 0 : inARow + 1;
      if (inARow >= limits.tries()) {
        throw new UpdateFailed(
            "it could not be fetched in "
                + inARow
                + " tries, "
                + size(part)
                + " of "
                + release.bytes()
                + " bytes are here: "
                + trouble);
      }
      LOG.log(System.Logger.Level.INFO, "{0}: {1}; trying again", subject, trouble);
      Thread.sleep(limits.pause());
    }
    listener.progress(subject, STEP, release.bytes(), release.bytes(), true);
    verify(release, part);
  }

  /** Not the connection's fault: another try would end in the same way. */
  private static final class WriteFailed extends IOException {
    private static final long serialVersionUID = 1L;

    WriteFailed(IOException cause) {
      super(cause.getMessage(), cause);
    }
  }

  private void receive(Release release, Path part, long here, String subject) throws IOException {
    try (ReleaseSource.Opened file = source.open(release.version(), here, limits.silence());
        FileChannel out =
            FileChannel.open(part, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      InputStream in = file.body();
      byte[] buffer = new byte[BUFFER_BYTES];
      long told = 0;
      out.truncate(file.from());
      out.position(file.from());
      long length = file.from();
      for (int count; (count = in.read(buffer)) >= 0; ) {
        // One byte too many is kept: it shows that the file is another one.
        int wanted = (int) Math.min(count, release.bytes() + 1 - length);
        write(out, ByteBuffer.wrap(buffer, 0, wanted));
        length += wanted;
        if (length - told >= TELL_BYTES) {
          told = length;
          listener.progress(subject, STEP, length, release.bytes(), false);
        }
        if (length > release.bytes()) {
          return;
        }
      }
    }
  }

  private static void write(FileChannel out, ByteBuffer bytes) throws WriteFailed {
    try {
      while (bytes.hasRemaining()) {
        out.write(bytes);
      }
    } catch (IOException e) {
      throw new WriteFailed(e);
    }
  }

  private static void verify(Release release, Path part) throws UpdateFailed, IOException {
    long size = size(part);
    String digest = size == release.bytes() ? sha256(part) : "";
    if (!digest.equals(release.sha256())) {
      Files.deleteIfExists(part);
      throw new UpdateFailed(
          size == release.bytes()
              ? "what arrived has SHA-256 "
                  + digest
                  + ", and "
                  + release.sha256()
                  + " was signed; it was deleted"
              : "more than the signed " + release.bytes() + " bytes arrived; they were deleted");
    }
  }

  private static String sha256(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      byte[] buffer = new byte[BUFFER_BYTES];
      for (int count; (count = in.read(buffer)) >= 0; ) {
        digest.update(buffer, 0, count);
      }
      return HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  private static long size(Path part) throws IOException {
    return Files.exists(part) ? Files.size(part) : 0;
  }
}
