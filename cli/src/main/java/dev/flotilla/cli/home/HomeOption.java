package dev.flotilla.cli.home;

import dev.flotilla.cli.output.Shell;
import dev.flotilla.cli.output.WrongUsage;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Where state is kept. */
public final class HomeOption {
  @Option(
      names = "--home",
      paramLabel = "DIR",
      description = "The state folder (else FLOTILLA_HOME, else ~/.flotilla).")
  private @Nullable Path home;

  public HomeOption() {}

  /** Whether the command line says where. */
  public boolean isNamed() {
    return home != null;
  }

  /** The state folder, absolute. */
  public Path home(Shell shell) {
    if (home != null && home.toString().isBlank()) {
      throw new WrongUsage("--home: names no folder");
    }
    Path chosen =
        home != null
            ? home
            : shell
                .variable("FLOTILLA_HOME")
                .map(Path::of)
                .orElseGet(() -> Path.of(System.getProperty("user.home"), ".flotilla"));
    return chosen.toAbsolutePath().normalize();
  }
}
