package dev.flotilla.agent.process;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * Numbers of launches: each is higher than every one before it on this home, also across restarts
 * and crashes, since a number is on the disk before it is used.
 */
final class Generations {
  private final Path file;
  private long last = -1;

  Generations(Path home) {
    this.file = home.resolve("agent").resolve("launch-generation");
  }

  synchronized long next() throws IOException {
    if (last < 0) {
      last = stored();
    }
    long next = last + 1;
    Files.createDirectories(file.toAbsolutePath().getParent());
    Path fresh = file.resolveSibling(file.getFileName() + ".new");
    try (FileChannel channel =
        FileChannel.open(
            fresh,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(Long.toString(next).getBytes(StandardCharsets.US_ASCII)));
      channel.force(true);
    }
    Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    last = next;
    return next;
  }

  private long stored() throws IOException {
    try {
      String text = Files.readString(file, StandardCharsets.US_ASCII).strip();
      if (!text.matches("\\d{1,18}")) {
        throw new IOException(
            file
                + " does not hold a number; write one there that is higher than any generation"
                + " that 'flotilla get workers' shows");
      }
      return Long.parseLong(text);
    } catch (NoSuchFileException e) {
      return 0;
    }
  }
}
