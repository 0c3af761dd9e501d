package dev.flotilla.agent.process;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A tiny shell beside the agent that kills its engines when the agent itself is killed.
 *
 * <p>It reads the ids of running engines from a pipe. The operating system closes the pipe when the
 * agent is gone, however it went, and then the shell kills what is still on its list and ends.
 * (Linux could signal a child when its parent dies, but means the thread that started it: with
 * virtual threads that is a carrier, which ends when it has nothing to do.) A guard that is gone is
 * noticed with the next engine and replaced by another, which hears the whole list. Without a shell
 * there is no guard, and the next agent on the home cleans up by its {@link LaunchRecords}.
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
  private final Set<Long> engines = new LinkedHashSet<>();
  private @Nullable Process shell;
  private @Nullable OutputStream pipe;

  OrphanGuard(ProcessStarter starter, Path home) {
    this.starter = starter;
    this.home = home;
  }

  synchronized void start() {
    try {
      Process started =
          starter.start(
              List.of("sh", "-c", SCRIPT),
              Map.of("PATH", System.getenv().getOrDefault("PATH", "/usr/bin:/bin")),
              home);
      started.getInputStream().close();
      shell = started;
      pipe = started.getOutputStream();
      for (long pid : engines) {
        write("add " + pid);
      }
    } catch (IOException e) {
      pipe = null;
      LOG.log(System.Logger.Level.WARNING, "Engines have no guard: {0}", e.getMessage());
    }
  }

  synchronized void add(long pid) {
    engines.add(pid);
    say("add " + pid);
  }

  synchronized void remove(long pid) {
    engines.remove(pid);
    say("del " + pid);
  }

  private void say(String line) {
    Process running = shell;
    if (running == null || pipe == null) {
      return;
    }
    if (!running.isAlive()) {
      LOG.log(System.Logger.Level.WARNING, "The guard of the engines is gone; another is started");
      start();
      return;
    }
    try {
      write(line);
    } catch (IOException e) {
      LOG.log(System.Logger.Level.WARNING, "The guard of the engines went: {0}", e.getMessage());
    }
  }

  private void write(String line) throws IOException {
    OutputStream open = pipe;
    if (open != null) {
      open.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
      open.flush();
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
