package dev.flotilla.cli;

import dev.flotilla.cli.bench.BenchCommand;
import dev.flotilla.cli.bench.Carriers;
import dev.flotilla.cli.bench.SweepCommand;
import dev.flotilla.cli.command.Apply;
import dev.flotilla.cli.command.Chat;
import dev.flotilla.cli.command.Describe;
import dev.flotilla.cli.command.Doctor;
import dev.flotilla.cli.command.Get;
import dev.flotilla.cli.command.Keys;
import dev.flotilla.cli.command.LifeCommand;
import dev.flotilla.cli.command.Tokens;
import dev.flotilla.cli.compare.CompareCommand;
import dev.flotilla.cli.output.Failure;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.cli.output.WrongUsage;
import dev.flotilla.cli.serve.AgentCommand;
import dev.flotilla.cli.serve.Engines;
import dev.flotilla.cli.serve.HubCommand;
import dev.flotilla.cli.serve.ServeCommand;
import dev.flotilla.cli.serve.Train;
import dev.flotilla.cli.serve.TrainEngine;
import dev.flotilla.cli.serve.UpCommand;
import dev.flotilla.cli.update.ReleaseCommand;
import dev.flotilla.cli.update.UpdateCommand;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.Writer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.ParameterException;

/** Where the process begins: one command, one exit code. */
public final class Main {
  private static final int HELP_COLUMNS = 100;

  /** Commands whose process takes the times of what others do. */
  private static final Set<String> MEASURING = Set.of("bench", "sweep");

  private Main() {}

  public static void main(String[] arguments) {
    if (arguments.length > 0 && MEASURING.contains(arguments[0])) {
      Carriers.more();
    }
    int code = run(Shell.ofProcess(), arguments);
    if (code == CommandLine.ExitCode.OK) {
      return;
    }
    // Nothing runs any more that would need a shutdown, and asking for one costs a logger's start.
    Runtime.getRuntime().halt(code);
  }

  /** Runs one command; 0 done, 1 failed, 2 wrong usage. Whatever is wrong is one line on err. */
  public static int run(Shell shell, String... arguments) {
    try {
      return commands(shell, arguments.length == 0 ? "" : arguments[0]).execute(arguments);
    } finally {
      shell.out().flush();
      shell.err().flush();
    }
  }

  /**
   * The commands, or the named one alone where there is one of that name: to read the options of
   * all of them takes longer than most commands run.
   */
  static CommandLine commands(Shell shell, String name) {
    Map<String, Supplier<Object>> all = new LinkedHashMap<>();
    all.put("up", () -> new UpCommand(shell));
    all.put("serve", () -> new ServeCommand(shell));
    all.put("hub", () -> new HubCommand(shell));
    all.put("agent", () -> new AgentCommand(shell));
    all.put("apply", () -> new Apply(shell));
    all.put("get", () -> new Get(shell));
    all.put("describe", () -> new Describe(shell));
    all.put("drain", () -> new LifeCommand.Drain(shell));
    all.put("resume", () -> new LifeCommand.Resume(shell));
    all.put("restart", () -> new LifeCommand.Restart(shell));
    all.put("prove", () -> new LifeCommand.Prove(shell));
    all.put("forget", () -> new LifeCommand.Forget(shell));
    all.put("chat", () -> new Chat(shell));
    all.put("compare", () -> new CompareCommand(shell));
    all.put("bench", () -> BenchCommand.of(shell));
    all.put("sweep", () -> new SweepCommand(shell));
    all.put(
        "keys",
        () ->
            new CommandLine(new Keys())
                .addSubcommand(new Keys.Create(shell))
                .addSubcommand(Keys.ListAll.ofKeys(shell))
                .addSubcommand(new Keys.Revoke(shell)));
    all.put(
        "tokens",
        () ->
            new CommandLine(new Tokens())
                .addSubcommand(new Tokens.Create(shell))
                .addSubcommand(Keys.ListAll.ofTokens(shell))
                .addSubcommand(new Tokens.Revoke(shell)));
    all.put(
        "release",
        () ->
            new CommandLine(new ReleaseCommand(shell))
                .addSubcommand(new ReleaseCommand.Keygen(shell)));
    all.put(
        "update",
        () ->
            new CommandLine(new UpdateCommand())
                .addSubcommand(new UpdateCommand.Offer(shell))
                .addSubcommand(new UpdateCommand.Withdraw(shell)));
    all.put("doctor", () -> new Doctor(shell, home -> Engines.found(home, shell)));
    all.put("train-engine", () -> new TrainEngine(shell));
    all.put("train", () -> new Train(Main::askOnce));
    CommandLine root = new CommandLine(new Flotilla());
    all.forEach((each, command) -> {
      if (each.equals(name) || !all.containsKey(name)) {
        root.addSubcommand(each, command.get());
      }
    });
    everywhere(root);
    root.setOut(shell.out());
    root.setErr(shell.err());
    root.setUsageHelpWidth(
        shell.columns() > 0 ? Math.max(60, Math.min(HELP_COLUMNS, shell.columns())) : HELP_COLUMNS);
    root.setColorScheme(CommandLine.Help.defaultColorScheme(shell.colours() ? Ansi.ON : Ansi.OFF));
    root.setParameterExceptionHandler(
        (problem, arguments) -> wrongUsage(shell, problem, List.of(arguments)));
    root.setExecutionExceptionHandler((problem, command, result) ->
        failed(shell, problem, command, root.getParseResult().originalArgs()));
    return root;
  }

  /** What people ask a hub most, asked once and not shown: for the AOT cache. */
  private static void askOnce(String hub) {
    PrintWriter nowhere = new PrintWriter(Writer.nullWriter());
    Shell shell =
        new Shell(InputStream.nullInputStream(), nowhere, nowhere, Map.of(), true, true, 100);
    for (String command : List.of("--help", "up --help", "hub --help", "agent --help")) {
      run(shell, command.split(" "));
    }
    for (String command : List.of("get workers", "get nodes -o json", "get events", "chat hi")) {
      String[] words = (command + " --hub " + hub).split(" ");
      if (run(shell, words) != 0) {
        throw new Failure("'" + command + "' failed in the training");
      }
    }
  }

  /** {@code --help} and {@code --version} are understood by every command. */
  private static void everywhere(CommandLine command) {
    command.getCommandSpec().mixinStandardHelpOptions(true).versionProvider(new Version());
    command.getSubcommands().values().forEach(Main::everywhere);
  }

  private static int wrongUsage(Shell shell, ParameterException problem, List<String> arguments) {
    String message = TypedNames.in(firstLine(problem), problem.getCommandLine(), arguments);
    shell.err().println("flotilla: " + message);
    if (!problem.getCommandLine().getCommandSpec().qualifiedName().equals("flotilla")) {
      shell
          .err()
          .println(
              "  '"
                  + problem.getCommandLine().getCommandSpec().qualifiedName()
                  + " --help' tells"
                  + " how it is used");
    } else if (problem instanceof CommandLine.UnmatchedArgumentException unmatched
        && !unmatched.getSuggestions().isEmpty()) {
      shell.err().println("  did you mean: " + String.join(", ", unmatched.getSuggestions()));
    }
    return CommandLine.ExitCode.USAGE;
  }

  private static int failed(
      Shell shell, Exception problem, CommandLine command, List<String> arguments) {
    shell.out().flush();
    if (problem instanceof WrongUsage wrong) {
      return wrongUsage(
          shell, new ParameterException(command, String.valueOf(wrong.getMessage())), arguments);
    }
    if (problem instanceof Failure failure) {
      String message = String.valueOf(failure.getMessage());
      shell.err().println("flotilla: " + TypedNames.in(message, command, arguments));
    } else {
      // A bug: the one case where a stack trace helps more than a sentence.
      shell.err().println("flotilla: internal error, please report it:");
      problem.printStackTrace(shell.err());
    }
    return CommandLine.ExitCode.SOFTWARE;
  }

  private static String firstLine(Exception problem) {
    String message = String.valueOf(problem.getMessage());
    int end = message.indexOf('\n');
    return end < 0 ? message : message.substring(0, end);
  }
}
