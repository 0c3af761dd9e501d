package dev.flotilla.cli.serve;

import dev.flotilla.cli.output.Shell;
import java.util.Optional;

/**
 * The script that started this process and waits for its end, to start another version in its place
 * where the process asks for that.
 *
 * @param pid the script's process
 */
record Launcher(long pid) {
  /** Where the script says who it is; what it starts may pass the variable on to others. */
  static final String VARIABLE = "FLOTILLA_LAUNCHER";

  /** The exit code that asks the launcher for another version. */
  static final int REPLACE = 75;

  /** The launcher, where this process is its child. */
  static Optional<Launcher> of(Shell shell) {
    return shell
        .variable(VARIABLE)
        .filter(text -> text.matches("\\d{1,10}"))
        .map(text -> new Launcher(Long.parseLong(text)))
        .filter(Launcher::isThere);
  }

  /** Whether it still waits; a process whose parent died has another. */
  boolean isThere() {
    return ProcessHandle.current().parent().filter(parent -> parent.pid() == pid).isPresent();
  }
}
