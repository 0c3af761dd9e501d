package dev.flotilla.agent.process;

import dev.flotilla.agent.node.BoundedProcess;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * From {@code lsof}, which every macOS has; it sees the processes of this user, which engines are.
 * Written after lsof(8) and output recorded elsewhere; not run on a Mac by its authors.
 */
final class MacPortOwners implements PortOwners {
  private static final Duration ANSWER_WITHIN = Duration.ofSeconds(5);

  @Override
  public Optional<List<Listener>> listeners(int port, Set<Long> likely) {
    List<String> command =
        List.of("/usr/sbin/lsof", "-nP", "-w", "-iTCP:" + port, "-sTCP:LISTEN", "-F", "pdn");
    try {
      // It ends with 1 where it finds nothing.
      return BoundedProcess.run(command, ANSWER_WITHIN)
          .filter(finished -> finished.exitCode() == 0 || finished.output().isEmpty())
          .map(finished -> parse(finished.output(), port));
    } catch (IOException e) {
      return Optional.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }

  /**
   * Sockets bound to the nearest address of 127.0.0.1. Pure.
   *
   * @param output of {@code lsof -F pdn}: a line {@code pPID} for each process, then for each of
   *     its files {@code fNUMBER}, {@code dDEVICE} and {@code nADDRESS:PORT}
   */
  static List<Listener> parse(String output, int port) {
    List<Listener> exact = new ArrayList<>();
    List<Listener> any = new ArrayList<>();
    OptionalLong pid = OptionalLong.empty();
    String device = "";
    for (String line : output.split("\n", -1)) {
      String value = line.isEmpty() ? "" : line.substring(1);
      switch (line.isEmpty() ? ' ' : line.charAt(0)) {
        case 'p' ->
            pid =
                value.matches("\\d{1,18}")
                    ? OptionalLong.of(Long.parseLong(value))
                    : OptionalLong.empty();
        case 'f' -> device = "";
        case 'd' -> device = value;
        case 'n' -> {
          // A server that forked has one socket in two processes: the first that is named counts.
          Listener listener = new Listener(device, pid);
          if (value.equals("127.0.0.1:" + port) || value.equals("[::ffff:127.0.0.1]:" + port)) {
            exact.add(listener);
          } else if (value.equals("*:" + port)) {
            any.add(listener);
          }
        }
        default -> {
          // another field
        }
      }
    }
    return exact.isEmpty() ? any : exact;
  }
}
