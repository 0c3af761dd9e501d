package dev.flotilla.agent;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * The right to be the one agent of a home folder: a lock on {@code HOME/run/agent.lock}, which the
 * operating system takes back however the process ends. The file says who holds it; what it says
 * counts for nothing without the lock.
 */
final class HomeLock implements AutoCloseable {
  private final FileChannel channel;

  private HomeLock(FileChannel channel) {
    this.channel = channel;
  }

  /**
   * @throws AgentRefused where another agent holds the home, and who that is
   */
  static HomeLock take(Path home, Instant now) throws AgentRefused, IOException {
    Path file = Files.createDirectories(home.resolve("run")).resolve("agent.lock");
    FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    boolean taken = false;
    try {
      FileLock lock = tryLock(channel);
      if (lock == null) {
        throw new AgentRefused(
            "Another agent holds "
                + home
                + " ("
                + holder(channel)
                + "). End it, or use another folder with --home.");
      }
      channel.truncate(0);
      String text =
          ProcessHandle.current().pid() + " " + now.truncatedTo(ChronoUnit.SECONDS) + "\n";
      channel.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII)), 0);
      taken = true;
      return new HomeLock(channel);
    } finally {
      if (!taken) {
        channel.close();
      }
    }
  }

  /** Null where another has it. */
  private static @Nullable FileLock tryLock(FileChannel channel) throws IOException {
    try {
      return channel.tryLock();
    } catch (OverlappingFileLockException e) {
      return null; // Another agent in this very process.
    }
  }

  private static String holder(FileChannel channel) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(100);
    channel.read(buffer, 0);
    String text = new String(buffer.array(), 0, buffer.position(), StandardCharsets.US_ASCII);
    String[] words = text.strip().split(" ", -1);
    return words.length == 2 && words[0].matches("\\d{1,10}")
        ? "process " + words[0] + ", since " + words[1]
        : "it has not said who it is yet";
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
