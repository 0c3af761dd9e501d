package dev.flotilla.cli.home;

import dev.flotilla.cli.output.Shell;
import java.nio.file.Path;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Where state is kept, and how much is told. */
public final class HomeOptions {
  @Mixin private final HomeOption home = new HomeOption();

  @Option(names = "--verbose", description = "Writes details to the log, and to the console.")
  private boolean verbose;

  public HomeOptions() {}

  /** The state folder, absolute. */
  public Path home(Shell shell) {
    return home.home(shell);
  }

  /** Whether details are wanted. */
  public boolean verbose() {
    return verbose;
  }
}
