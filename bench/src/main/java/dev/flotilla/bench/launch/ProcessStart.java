package dev.flotilla.bench.launch;

import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** Starts a process: the one effect of this package that is given from outside. */
@FunctionalInterface
public interface ProcessStart {

  /**
   * Starts it, with the environment of this one.
   *
   * @param name of the engine, for its log
   * @param command program first
   * @param cores the processors that it may use, as {@code taskset --cpu-list} takes them
   * @throws IOException where it can't be started; the message says why
   */
  Running start(String name, List<String> command, Optional<String> cores) throws IOException;

  /** A process that was started. */
  interface Running extends AutoCloseable {

    boolean isAlive();

    /** Its exit code; only once it has ended. */
    int exitCode();

    /** What it printed last, oldest first. */
    List<String> lastLines();

    /** Resident memory of it and of all that it started, in bytes; 0 where unknown. */
    long residentBytes();

    /** Ends it and all that it started. */
    @Override
    void close();
  }
}
