package dev.flotilla.cli;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The command itself; everything is done by its subcommands. */
@Command(
    name = "flotilla",
    synopsisSubcommandLabel = "COMMAND",
    description = "One model name, served by whatever machines you have.",
    footer = {
      "%nBegin with:",
      "  flotilla up                  a hub and its first workers on this machine",
      "  flotilla chat \"Say hi\"       ask them",
      "  flotilla get workers         see them",
      "%n'flotilla COMMAND --help' tells more of each. Exit codes: 0 done, 1 failed, 2 wrong usage.",
    })
final class Flotilla implements Runnable {
  @Spec private @Nullable CommandSpec spec;

  @Override
  public void run() {
    throw new CommandLine.ParameterException(
        Objects.requireNonNull(spec).commandLine(), "say what to do; 'flotilla --help' lists it");
  }
}
