package dev.flotilla.cli.command;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;

/** A command that does nothing by itself: the word after it says what is meant. */
public abstract class CommandGroup implements Runnable {
  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  private final String advice;

  /**
   * @param advice what to say instead, such as {@code say create, list or revoke}
   */
  protected CommandGroup(String advice) {
    this.advice = advice;
  }

  @Override
  public final void run() {
    throw new CommandLine.ParameterException(Objects.requireNonNull(spec).commandLine(), advice);
  }
}
