package dev.flotilla.agent.process;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A tiny shell beside the agent that kills its engines when the agent itself is killed.
 *
 * <p>It reads the ids of running engines from a pipe. The operating system closes the pipe when the
 * agent is gone, however it went, and then the shell kills what is still on its list and ends.
 * (Linux could signal a child when its parent dies, but means the thread that started it: with
 * virtual threads that is a carrier, which ends when it has nothing to do.) Without a shell there
 * is no guard, and the next agent on the home cleans up by its {@link LaunchRecords}.
 */
final class OrphanGuard implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(OrphanGuard.class.getName());

  private static final String SCRIPT =
      """
      trap '' INT HUP TERM
      engines=''
      while read -r word pid; do
        rest=''
        for other in $engines; do [ "$other" = "$pid" ] || rest="$rest $other"; done
        [ "$word" = add ] && rest="$rest $pid"
        engines=$rest
      done
      for pid in $engines; do kill -s KILL -- "-$pid" 2>/dev/null || kill -s KILL "$pid" 2>/dev/null; done
      """;

  private final ProcessStarter starter;
  private final Path home;
  private @Nullable OutputStream pipe;

  OrphanGuard(ProcessStarter starter, Path home) {
    this.starter = starter;
    this.home = home;
  }

  synchronized void start() {
    try {
      Process shell =
          starter.start(
              List.of("sh", "-c", SCRIPT),
              Map.of("PATH", System.getenv().getOrDefault("PATH", "/usr/bin:/bin")),
              home);
      shell.getInputStream().close();
      pipe = shell.getOutputStream();
    } catch (IOException e) {
      LOG.log(System.Logger.Level.WARNING, "Engines have no guard: {0}", e.getMessage());
    }
  }

  void add(long pid) {
    say("add " + pid);
  }

  void remove(long pid) {
    say("del " + pid);
  }

  private synchronized void say(String line) {
    OutputStream open = pipe;
    if (open == null) {
      return;
    }
    try {
      open.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
      open.flush();
    } catch (IOException e) {
      LOG.log(System.Logger.Level.WARNING, "The engines'' guard is gone: {0}", e.getMessage());
      pipe = null;
    }
  }

  @Override
  public synchronized void close() {
    OutputStream open = pipe;
    pipe = null;
    if (open != null) {
      try {
        open.close();
      } catch (IOException e) {
        LOG.log(System.Logger.Level.DEBUG, "The guard was gone already: {0}", e.getMessage());
      }
    }
  }
}
