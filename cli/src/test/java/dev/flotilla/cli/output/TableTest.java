package dev.flotilla.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.cli.output.Table.Cell;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class TableTest {
  private final StringWriter out = new StringWriter();

  private Shell shell(boolean terminal, Map<String, String> environment) {
    PrintWriter writer = new PrintWriter(out, true);
    return new Shell(
        InputStream.nullInputStream(), writer, writer, environment, terminal, terminal, 60);
  }

  private static Table table() {
    Table table = new Table(List.of("Worker", "State", "Started with"));
    table.add(
        List.of(
            Cell.of("laptop/m-1"),
            new Cell("serving", Style.GOOD),
            Cell.of("llama-server --model /a/very/long/path/to/some/model.gguf --port 1")));
    return table;
  }

  @Test
  void aPipeGetsEveryValueWholeAndNoColour() {
    boolean cut = table().print(shell(false, Map.of()), Integer.MAX_VALUE);

    assertThat(cut).isFalse();
    assertThat(out.toString())
        .isEqualTo(
            """
            Worker      State    Started with
            laptop/m-1  serving  llama-server --model /a/very/long/path/to/some/model.gguf --port 1
            """);
  }

  @Test
  void aTerminalGetsItsLastColumnCutToTheWidth() {
    boolean cut = table().print(shell(true, Map.of("NO_COLOR", "1")), 60);

    assertThat(cut).isTrue();
    assertThat(out.toString().lines()).allMatch(line -> line.length() <= 60);
    assertThat(out.toString()).contains("…").doesNotContain("\u001b");
  }

  @Test
  void aTerminalGetsColoursUnlessToldOtherwise() {
    table().print(shell(true, Map.of()), 60);

    assertThat(out.toString()).contains("\u001b[32mserving\u001b[0m");
  }

  @Test
  void whatANameHoldsNeverSteersTheTerminal() {
    Table table = new Table(List.of("Name"));
    table.add(List.of(Cell.of("evil\u001b[2J\r\nname\u202e")));
    table.print(shell(false, Map.of()), Integer.MAX_VALUE);

    assertThat(out.toString()).isEqualTo("Name\nevil [2J  name\n");
  }
}
