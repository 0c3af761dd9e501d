package dev.flotilla.cli;

import dev.flotilla.cli.output.Shell;
import java.io.ByteArrayInputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Stream;

/** Runs commands in this JVM, and keeps what a user would see. */
public final class TestShell {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private final Map<String, String> environment;
  private final int columns;
  private String input = "";

  private TestShell(Map<String, String> environment, int columns) {
    this.environment = environment;
    this.columns = columns;
  }

  /** Output goes into a pipe. */
  public static TestShell piped() {
    return new TestShell(Map.of(), 0);
  }

  /** A person looks, at a terminal so wide. */
  public static TestShell terminal(int columns) {
    return new TestShell(Map.of(), columns);
  }

  public TestShell with(String variable, String value) {
    return new TestShell(Map.of(variable, value), columns);
  }

  public TestShell typing(String text) {
    input = text;
    return this;
  }

  /** Runs it, and answers with its exit code. */
  public int run(String... arguments) {
    boolean terminal = columns > 0;
    return Main.run(
        new Shell(
            new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)),
            new PrintWriter(out, true),
            new PrintWriter(err, true),
            environment,
            terminal,
            terminal,
            columns),
        arguments);
  }

  /** Runs it against a hub. */
  public int ask(String hub, String... arguments) {
    return run(
        Stream.concat(Arrays.stream(arguments), Stream.of("--hub", hub)).toArray(String[]::new));
  }

  public String out() {
    return out.toString();
  }

  public String err() {
    return err.toString();
  }
}
