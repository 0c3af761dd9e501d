package dev.flotilla.agent.process;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * One worker's log file, {@code HOME/logs/WORKER.log}, and its last lines in memory. A file that
 * has reached its size becomes {@code WORKER.log.1}. A log that can't be written stops no engine:
 * its output is still read, so that it never blocks on a full pipe, and its last lines are kept.
 *
 * <p>One pump at a time writes; {@link #lastLines} may be asked by any thread.
 */
final class WorkerLog {
  private static final System.Logger LOG = System.getLogger(WorkerLog.class.getName());

  /** A traceback of vLLM's server is longer than what its engine said before it, which matters. */
  private static final int LINES_KEPT = 200;

  private static final int LINE_BYTES_MAX = 8192;
  private static final int NAME_CHARS_MAX = 120;

  private final Path file;
  private final long bytesMax;
  private final Deque<String> lines = new ArrayDeque<>();
  private boolean failed;

  WorkerLog(Path logs, String worker, long bytesMax) {
    this.file = logs.resolve(fileName(worker));
    this.bytesMax = bytesMax;
  }

  Path file() {
    return file;
  }

  /**
   * A worker's name as a file's: what is no plain character is replaced, and a checksum then keeps
   * names apart.
   */
  static String fileName(String worker) {
    String plain = worker.replaceFirst("/", "_").replaceAll("[^A-Za-z0-9._-]", "_");
    if (plain.equals(worker.replaceFirst("/", "_")) && plain.length() <= NAME_CHARS_MAX) {
      return plain + ".log";
    }
    CRC32 sum = new CRC32();
    sum.update(worker.getBytes(StandardCharsets.UTF_8));
    return "%s-%08x.log"
        .formatted(plain.substring(0, Math.min(plain.length(), NAME_CHARS_MAX)), sum.getValue());
  }

  /** Reads until the stream ends. */
  void pump(InputStream in) {
    byte[] line = new byte[LINE_BYTES_MAX];
    int length = 0;
    byte[] buffer = new byte[8192];
    try (in;
        Sink sink = new Sink()) {
      for (int count; (count = in.read(buffer)) >= 0; ) {
        sink.write(buffer, count);
        for (int i = 0; i < count; i++) {
          if (buffer[i] == '\n') {
            keep(new String(line, 0, length, StandardCharsets.UTF_8));
            length = 0;
          } else if (length < line.length) {
            line[length++] = buffer[i];
          }
        }
      }
    } catch (IOException e) {
      LOG.log(System.Logger.Level.DEBUG, "The output of {0} ended: {1}", file, e.getMessage());
    }
    if (length > 0) {
      keep(new String(line, 0, length, StandardCharsets.UTF_8));
    }
  }

  List<String> lastLines() {
    synchronized (lines) {
      return List.copyOf(lines);
    }
  }

  void forgetLines() {
    synchronized (lines) {
      lines.clear();
    }
  }

  private void keep(String line) {
    if (line.isBlank()) {
      return;
    }
    synchronized (lines) {
      lines.addLast(line);
      if (lines.size() > LINES_KEPT) {
        lines.removeFirst();
      }
    }
  }

  /** The file while one process writes to it. */
  private final class Sink implements AutoCloseable {
    private @Nullable OutputStream out;
    private long written;

    void write(byte[] bytes, int count) {
      if (failed) {
        return;
      }
      try {
        OutputStream open = out;
        if (open == null || written >= bytesMax) {
          open = reopen();
        }
        open.write(bytes, 0, count);
        written += count;
      } catch (IOException | UncheckedIOException e) {
        failed = true;
        LOG.log(
            System.Logger.Level.WARNING,
            "The log {0} can''t be written any more: {1}; the engine runs on",
            file,
            e.getMessage());
      }
    }

    private OutputStream reopen() throws IOException {
      close();
      Files.createDirectories(file.toAbsolutePath().getParent());
      written = Files.exists(file) ? Files.size(file) : 0;
      if (written >= bytesMax) {
        Files.move(
            file,
            file.resolveSibling(file.getFileName() + ".1"),
            StandardCopyOption.REPLACE_EXISTING);
        written = 0;
      }
      OutputStream open =
          Files.newOutputStream(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
      out = open;
      return open;
    }

    @Override
    public void close() throws IOException {
      OutputStream open = out;
      out = null;
      if (open != null) {
        open.close();
      }
    }
  }
}
