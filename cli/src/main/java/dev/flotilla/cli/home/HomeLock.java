package dev.flotilla.cli.home;

import dev.flotilla.cli.output.Failure;
import dev.flotilla.wire.files.OwnerOnly;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * One hub and one agent to a home: whoever runs on it holds a lock of the operating system on
 * {@code HOME/run/NAME.lock}, and writes into that file who it is, for the next one to read.
 *
 * <p>The lock ends with the process, however that ends; what is written in the file means something
 * only while the lock is held.
 */
public final class HomeLock implements AutoCloseable {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss", Locale.ROOT)
          .withZone(ZoneId.systemDefault());

  private final FileChannel channel;
  private final String command;

  private HomeLock(FileChannel channel, String command) {
    this.channel = channel;
    this.command = command;
  }

  /**
   * Makes the home where there is none, and takes a lock in it.
   *
   * @param part {@code hub} or {@code agent}
   * @param command what is run, for the message that another one gets
   * @throws Failure where the home can't be written to, or another process holds it
   */
  public static HomeLock take(Path home, String part, String command) {
    makeHome(home);
    Path file = home.resolve("run").resolve(part + ".lock");
    FileChannel channel;
    try {
      channel =
          FileChannel.open(
              file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    } catch (IOException e) {
      throw unwritable(home, e);
    }
    try {
      FileLock lock = channel.tryLock();
      if (lock != null) {
        HomeLock held = new HomeLock(channel, command);
        held.say("");
        return held;
      }
    } catch (OverlappingFileLockException e) {
      // Held by this very process: said below, as for any other.
    } catch (IOException e) {
      closeQuietly(channel);
      throw new Failure(
          "can't lock " + file + ": " + e.getMessage() + "; is the folder on a network drive?", e);
    }
    String holder = holder(channel);
    closeQuietly(channel);
    throw new Failure(
        home
            + " is in use by "
            + holder
            + "; stop that one, or name another folder with --home DIR");
  }

  /** Whether nobody has ever run that part on the home, so that nobody does now. */
  public static boolean isNew(Path home, String part) {
    return Files.notExists(home.resolve("run").resolve(part + ".lock"));
  }

  /** Whether nobody runs that part on the home now. */
  public static boolean isFree(Path home, String part) {
    if (isNew(home, part)) {
      return true;
    }
    try (FileChannel channel =
            FileChannel.open(
                home.resolve("run").resolve(part + ".lock"),
                StandardOpenOption.READ,
                StandardOpenOption.WRITE);
        FileLock lock = channel.tryLock()) {
      return lock != null;
    } catch (OverlappingFileLockException e) {
      return false;
    } catch (IOException e) {
      // Whoever wants it is told what is wrong with it.
      return true;
    }
  }

  /**
   * Where the hub that runs on the home listens; empty where none does, or it does not listen yet.
   */
  public static Optional<String> hubAddress(Path home) {
    List<String> lines;
    try {
      lines = Files.readAllLines(home.resolve("run").resolve("hub.lock"), StandardCharsets.UTF_8);
    } catch (IOException e) {
      return Optional.empty();
    }
    if (lines.size() < 4 || lines.get(3).isEmpty() || !isProcess(lines.get(1))) {
      return Optional.empty();
    }
    return isFree(home, "hub") ? Optional.empty() : Optional.of(lines.get(3));
  }

  /** Asked before the lock is, which would be held for a moment by whoever asks. */
  private static boolean isProcess(String pid) {
    return pid.matches("[0-9]{1,10}") && ProcessHandle.of(Long.parseLong(pid)).isPresent();
  }

  /**
   * Makes the state folder where there is none.
   *
   * @throws Failure where it can't be written to
   */
  public static void makeHome(Path home) {
    try {
      Files.createDirectories(home.resolve("run"), OwnerOnly.folder());
    } catch (IOException e) {
      throw unwritable(home, e);
    }
  }

  private static Failure unwritable(Path home, IOException e) {
    return new Failure(
        "can't write to the state folder "
            + home
            + " ("
            + reason(e)
            + "); name another one with --home DIR",
        e);
  }

  private static String reason(IOException e) {
    return switch (e) {
      case FileAlreadyExistsException there -> there.getFile() + " is a file, not a folder";
      case AccessDeniedException denied -> "no permission for " + denied.getFile();
      case FileSystemException other when other.getReason() != null -> other.getReason();
      default -> String.valueOf(e.getMessage());
    };
  }

  /** Tells where this process listens, for the next one that wants the home. */
  public void listensAt(String address) {
    say(address);
  }

  private void say(String address) {
    String text =
        String.join(
            "\n",
            command,
            Long.toString(ProcessHandle.current().pid()),
            Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(),
            address,
            "");
    try {
      channel.truncate(0);
      channel.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)), 0);
    } catch (IOException e) {
      // The lock itself holds: only the next one's message will be poorer.
      System.getLogger(HomeLock.class.getName())
          .log(System.Logger.Level.WARNING, "can't write who holds the home: " + e.getMessage());
    }
  }

  private static String holder(FileChannel channel) {
    try {
      ByteBuffer bytes = ByteBuffer.allocate(4096);
      channel.read(bytes, 0);
      List<String> lines =
          new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8).lines().toList();
      if (lines.size() >= 3) {
        String address = lines.size() > 3 && !lines.get(3).isEmpty() ? " at " + lines.get(3) : "";
        return "'"
            + lines.get(0)
            + "' (process "
            + lines.get(1)
            + ", since "
            + TIME.format(Instant.parse(lines.get(2)))
            + ")"
            + address;
      }
    } catch (IOException | RuntimeException e) {
      // Someone holds it and does not say who: that is all that can be told.
    }
    return "another flotilla";
  }

  @Override
  public void close() {
    closeQuietly(channel);
  }

  private static void closeQuietly(FileChannel channel) {
    try {
      channel.close();
    } catch (IOException e) {
      // Nothing was written that must last.
    }
  }
}
