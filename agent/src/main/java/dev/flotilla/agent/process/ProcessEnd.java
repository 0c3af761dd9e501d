package dev.flotilla.agent.process;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Ends a process and all that it started: first asked, then killed. */
final class ProcessEnd {
  private static final System.Logger LOG = System.getLogger(ProcessEnd.class.getName());
  private static final Duration KILLED_WITHIN = Duration.ofSeconds(5);

  private ProcessEnd() {}

  /**
   * Returns when the process is gone, at the latest a few seconds after {@code limit}. An interrupt
   * only shortens the asking.
   */
  static void end(ProcessHandle process, Duration limit) {
    List<ProcessHandle> tree = new ArrayList<>(process.descendants().toList());
    tree.addFirst(process);
    tree.forEach(ProcessHandle::destroy);
    boolean gone = awaitExit(tree, limit);
    killGroup(process.pid());
    tree.forEach(ProcessHandle::destroyForcibly);
    if (!gone && !awaitExit(tree, KILLED_WITHIN)) {
      LOG.log(System.Logger.Level.ERROR, "Process {0} can''t be killed", process.pid());
    }
  }

  /**
   * Kills a process that would not hear a request to end, and all that it started; returns soon.
   */
  static void kill(ProcessHandle process) {
    List<ProcessHandle> tree = new ArrayList<>(process.descendants().toList());
    killGroup(process.pid());
    tree.forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }

  private static boolean awaitExit(List<ProcessHandle> processes, Duration limit) {
    CompletableFuture<?> all =
        CompletableFuture.allOf(
            processes.stream().map(ProcessHandle::onExit).toArray(CompletableFuture[]::new));
    try {
      all.get(limit.toMillis(), TimeUnit.MILLISECONDS);
      return true;
    } catch (InterruptedException e) {
      return processes.stream().noneMatch(ProcessHandle::isAlive);
    } catch (ExecutionException | TimeoutException e) {
      return false;
    }
  }

  /**
   * What has lost its parent is in no tree any more, but still in the group that {@code setsid}
   * made. Where there is no such group this does nothing.
   */
  private static void killGroup(long leader) {
    try {
      Process kill =
          new ProcessBuilder("kill", "-s", "KILL", "--", "-" + leader)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      kill.onExit().get(KILLED_WITHIN.toMillis(), TimeUnit.MILLISECONDS);
    } catch (IOException | InterruptedException | ExecutionException | TimeoutException e) {
      LOG.log(System.Logger.Level.DEBUG, "No group of {0} was killed: {1}", leader, e.toString());
    }
  }
}
