package dev.flotilla.agent.process;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * A process that a command of ours starts, looks after and ends by itself, outside of any {@link
 * Supervisor}: nothing starts it again.
 *
 * <p><b>Invariants.</b> From its start until {@link #close} returns it is on the list of a guard of
 * its own, so that it ends when this JVM is killed. What it prints is always read: it never blocks
 * on a full pipe.
 *
 * <p>Safe for many threads; {@link #close} may be called again.
 */
public final class LoneProcess implements AutoCloseable {
  private final Process process;
  private final OrphanGuard guard;
  private final WorkerLog log;
  private final Thread pump;
  private final Duration stopWithin;

  private LoneProcess(Process process, OrphanGuard guard, WorkerLog log, Duration stopWithin) {
    this.process = process;
    this.guard = guard;
    this.log = log;
    this.stopWithin = stopWithin;
    this.pump =
        Thread.ofVirtual()
            .name("log-" + process.pid())
            .start(() -> log.pump(process.getInputStream()));
  }

  /**
   * Starts it.
   *
   * @param environment the whole environment
   * @param folder where it runs, and where its log is written to
   * @param name of the log
   */
  public static LoneProcess start(
      ProcessStarter starter,
      List<String> command,
      Map<String, String> environment,
      Path folder,
      String name)
      throws IOException {
    SupervisorLimits limits = SupervisorLimits.DEFAULTS;
    OrphanGuard guard = new OrphanGuard(ProcessStarter.inOwnSession(), folder);
    guard.start();
    try {
      Process process = starter.start(command, environment, folder);
      guard.add(process.pid());
      WorkerLog log = new WorkerLog(folder, name, limits.logBytesMax());
      return new LoneProcess(process, guard, log, limits.stopWithin());
    } catch (IOException e) {
      guard.close();
      throw e;
    }
  }

  public long pid() {
    return process.pid();
  }

  ProcessHandle handle() {
    return process.toHandle();
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** Waits for its end, at most so long; whether it has ended. */
  public boolean awaitEnd(Duration atMost) throws InterruptedException {
    return process.waitFor(atMost);
  }

  /** Its exit code; only once it has ended. */
  public int exitCode() {
    return process.exitValue();
  }

  /** What it printed last, oldest first. */
  public List<String> lastLines() throws InterruptedException {
    if (!process.isAlive()) {
      // What it said last may still be on its way.
      pump.join(Duration.ofSeconds(1));
    }
    return log.lastLines();
  }

  /**
   * Resident memory of the process and of all that it started, in bytes; 0 where unknown. Pages
   * that two of them share are counted twice.
   */
  public long residentBytes() {
    long sum = ProcessFacts.residentBytes(process.pid());
    for (ProcessHandle child : process.descendants().toList()) {
      sum += ProcessFacts.residentBytes(child.pid());
    }
    return sum;
  }

  /** Ends it and all that it started; none is left after this. */
  @Override
  public void close() {
    boolean interrupted = Thread.interrupted();
    try {
      ProcessEnd.end(process.toHandle(), stopWithin);
    } finally {
      guard.remove(process.pid());
      guard.close();
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
