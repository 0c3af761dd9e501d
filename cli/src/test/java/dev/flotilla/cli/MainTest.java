package dev.flotilla.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.cli.output.Shell;
import dev.flotilla.testkit.scripted.ScriptedEngine;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

final class MainTest {
  private final TestShell shell = TestShell.piped();

  @Test
  void withoutACommandOneLineSaysWhatToDo() {
    assertThat(shell.run()).isEqualTo(2);

    assertThat(shell.err()).isEqualTo("flotilla: say what to do; 'flotilla --help' lists it\n");
    assertThat(shell.out()).isEmpty();
  }

  @Test
  void helpListsEveryCommandButTheBuildsOwn() {
    assertThat(shell.run("--help")).isZero();

    assertThat(shell.out())
        .contains("up", "hub", "agent", "get", "describe", "apply", "drain", "chat", "doctor")
        .contains("flotilla up ")
        .doesNotContain("train");
  }

  @Test
  void everyCommandsHelpHasAnExample() {
    CommandLine root = Main.commands(Shell.ofProcess(), "");
    everyCommand(root)
        .filter(command -> !command.getCommandSpec().usageMessage().hidden())
        .filter(command -> !command.getCommandName().equals("list"))
        .forEach(command ->
            assertThat(command.getUsageMessage())
                .as(command.getCommandSpec().qualifiedName())
                .containsAnyOf("Example", "Begin with"));
  }

  /** A list of commands shows the first line alone of what each says of itself. */
  @Test
  void inAListEveryCommandIsDescribedByWholeSentences() {
    everyCommand(Main.commands(Shell.ofProcess(), ""))
        .map(CommandLine::getCommandSpec)
        .forEach(command ->
            assertThat(List.of(command.usageMessage().description()).getFirst())
                .as(command.qualifiedName())
                .endsWith("."));
  }

  private static Stream<CommandLine> everyCommand(CommandLine command) {
    return Stream.concat(
        Stream.of(command),
        command.getSubcommands().values().stream().flatMap(MainTest::everyCommand));
  }

  @Test
  void theVersionNamesTheJavaToo() {
    assertThat(shell.run("--version")).isZero();

    assertThat(shell.out()).startsWith("flotilla ").contains("Java 25");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "fly",
        "get",
        "get wokers",
        "get workers --nope",
        "describe worker",
        "keys",
        "up --slots x"
      })
  void wrongUsageEndsWithTwoAndShortWords(String line) {
    assertThat(shell.run(line.split(" "))).isEqualTo(2);

    assertThat(shell.err()).startsWith("flotilla: ");
    assertThat(shell.err().lines().count()).isLessThanOrEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '"',
      value = {
        "up --listen foo, --listen",
        "up --listen '', --listen",
        "up --listen 127.0.0.1:99999, --listen",
        "up --workers 0, --workers",
        "up --workers 65, --workers",
        "up --slots -1, --slots",
        "up --context 0, --context",
        "up --model hf:a, --model",
        "up --model '', --model",
        "up --model /tmp, --model",
        "up --model ftp://x/m.gguf, --model",
        "up --name a..b/, --name",
        "up --home '', --home",
        "up --ca /nope, --ca",
        "hub --tls-cert /nope --tls-key /nope, --tls-cert",
        "agent --hub ftp://x, --hub",
        "agent --hub http://x --name 'a b', --name",
        "agent --hub http://x --ca /nope, --ca",
        "get workers --hub ftp://x, --hub",
        "get workers --ca /nope, --ca",
        "get workers --ca /tmp, --ca",
        "get workers --key '', --key",
        "get workers --key 'a b', --key",
        "get events --limit -1, --limit",
        "get events --limit 1001, --limit",
        "get events --after -1, --after",
        "get usage --limit 1000001, --limit",
        "get usage --since yesterday, --since",
        "get workers -o csv, -o",
        "tokens create --uses 0, --uses",
        "tokens create --hours 0, --hours",
        "keys create 'a b', NAME",
        "keys create me --home '', --home",
        "describe event x, an event is named by its number",
        "chat hi --max-tokens 0, --max-tokens",
        "chat hi --max-tokens -5, --max-tokens",
        "chat hi --url ftp://x, --url",
      })
  void aValueThatCannotBeMeantNamesItsOption(String line, String option, @TempDir Path folder) {
    TestShell here = shell.with("FLOTILLA_HOME", folder.toString());
    String[] words =
        Arrays.stream(line.split(" (?=(?:[^']*'[^']*')*[^']*$)"))
            .map(word -> word.replace("'", ""))
            .toArray(String[]::new);

    assertThat(here.run(words)).as(here.err()).isEqualTo(2);

    assertThat(here.err().lines().findFirst().orElseThrow())
        .startsWith("flotilla: ")
        .contains(option)
        .doesNotContain("dev.flotilla", "Exception", " line ");
    assertThat(here.err().lines()).hasSize(2);
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void aFileOfAuthoritiesWithoutACertificateIsSaid(@TempDir Path folder) throws IOException {
    Path text = Files.writeString(folder.resolve("text.pem"), "no certificate at all");

    assertThat(shell.run("get", "workers", "--ca", text.toString())).isEqualTo(2);

    assertThat(shell.err())
        .startsWith("flotilla: --ca: " + text + " holds no certificate in PEM form\n");
  }

  @Test
  void aHubThatIsNotThereIsOneLine() throws IOException {
    int port = freePort();

    assertThat(shell.ask("http://127.0.0.1:" + port, "get", "workers")).isEqualTo(1);

    assertThat(shell.err())
        .isEqualTo(
            "flotilla: nothing answers at http://127.0.0.1:"
                + port
                + ": start a hub with 'flotilla up', or name the one you mean with --hub URL\n");
  }

  @Test
  void theHubOfTheEnvironmentIsAsked() throws IOException {
    int port = freePort();
    TestShell other = shell.with("FLOTILLA_HUB", "127.0.0.1:" + port);

    assertThat(other.run("get", "nodes")).isEqualTo(1);

    assertThat(other.err()).contains("http://127.0.0.1:" + port);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ftp://x",
        "http://",
        "http://a b",
        "://",
        "http://a:99999",
        "http://a?b",
        "http://u:p@a"
      })
  void anAddressThatIsNoneIsSaid(String address) {
    assertThat(shell.ask(address, "get", "workers")).isEqualTo(2);

    assertThat(shell.err()).startsWith("flotilla: --hub is no address: '" + address + "'");
  }

  @Test
  void aMissingFileIsSaid() {
    assertThat(shell.run("apply", "/nowhere/fleet.yaml")).isEqualTo(2);
    assertThat(shell.err()).startsWith("flotilla: there is no file /nowhere/fleet.yaml\n");

    assertThat(shell.run("sweep", "--compare", "/nowhere/a.json", "/nowhere/b.json")).isEqualTo(2);
    assertThat(shell.err()).contains("flotilla: --compare: there is no file /nowhere/a.json\n");
  }

  @Test
  void aModelFileThatIsNotThereIsSaidBeforeAnythingStarts(@TempDir Path home) {
    int code =
        shell.run("up", "--home", home.toString(), "--listen", "0", "--model", "/nowhere/m.gguf");

    assertThat(code).isEqualTo(2);
    assertThat(shell.err()).startsWith("flotilla: --model: there is no file /nowhere/m.gguf\n");
  }

  @Test
  void aHomeThatCannotBeWrittenIsSaid(@TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "");

    assertThat(shell.run("hub", "--home", file.resolve("home").toString())).isEqualTo(1);

    assertThat(shell.err()).startsWith("flotilla: can't write to the state folder " + file);
  }

  @Test
  void aPortInUseIsSaid(@TempDir Path home) throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String address = "127.0.0.1:" + taken.getLocalPort();

      assertThat(shell.run("hub", "--home", home.toString(), "--listen", address)).isEqualTo(1);

      assertThat(shell.err()).contains("the address " + address + " is in use by another process");
      assertThat(home).isEmptyDirectory();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "hub --listen 0.0.0.0:0",
        "hub --listen 127.0.0.1:0 --tls-cert NOTHING --tls-key NOTHING",
        "hub --listen 127.0.0.1:0 --ca NOTHING",
        "up --listen 127.0.0.1:0 --ca NOTHING",
        "up --listen 127.0.0.1:0 --engine-path NOTHING",
        "up --listen 127.0.0.1:0 --model /nowhere/m.gguf",
        "agent --hub http://127.0.0.1:1",
        "agent --hub http://127.0.0.1:1 --token t --engine-path NOTHING",
        "agent --hub https://127.0.0.1:1 --token t --ca NOTHING",
      })
  void aStartThatMustFailMakesNoStateFolder(String line, @TempDir Path folder) throws IOException {
    Path nothing = Files.writeString(folder.resolve("nothing"), "");
    Path home = folder.resolve("home");

    int code =
        shell
            .with("FLOTILLA_HOME", home.toString())
            .run(line.replace("NOTHING", nothing.toString()).split(" "));

    assertThat(code).isIn(1, 2);
    assertThat(home).doesNotExist();
  }

  @Test
  void anAgentThatIsSentToAServerThatIsNoHubSaysSoAndLeavesNothing(@TempDir Path folder) {
    Path home = folder.resolve("home");
    try (ScriptedEngine server = ScriptedEngine.start()) {
      String url = server.url();

      int code = shell.run("agent", "--hub", url, "--token", "t", "--home", home.toString());

      assertThat(code).isEqualTo(1);
      assertThat(shell.err())
          .startsWith("flotilla: " + url + " answers (HTTP 404) but is no Flotilla hub: ")
          .contains("--hub")
          .hasLineCount(1);
    }
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void beyondLoopbackAHubWithoutKeysDoesNotStart(@TempDir Path home) {
    assertThat(shell.run("hub", "--home", home.toString(), "--listen", "0.0.0.0:0")).isEqualTo(1);

    assertThat(shell.err())
        .contains("this hub has no keys yet", "flotilla keys create --admin me --home " + home)
        .contains("--allow-no-keys");
    assertThat(home).isEmptyDirectory();
  }

  @Test
  void aKeyIsMadeInTheStateFolderOfTheEnvironmentWhileNoHubRunsOnIt(@TempDir Path home) {
    TestShell here = shell.with("FLOTILLA_HOME", home.toString());
    assertThat(here.run("keys", "create", "--admin", "me")).as(here.err()).isZero();
    assertThat(here.out()).startsWith("fl-");
    assertThat(here.err()).contains("made in " + home);
    assertThat(home.resolve("hub").resolve("hub.db")).exists();

    TestShell elsewhere = shell.with("FLOTILLA_HOME", home.toString());
    assertThat(elsewhere.ask("http://127.0.0.1:1", "keys", "create", "you")).isEqualTo(1);
    assertThat(elsewhere.err()).contains("nothing answers at http://127.0.0.1:1");
  }

  @Test
  void theFirstKeyIsMadeBeforeTheHubRuns(@TempDir Path home) {
    assertThat(shell.run("keys", "create", "--admin", "me", "--home", home.toString())).isZero();

    List<String> lines = shell.out().lines().toList();
    assertThat(lines).hasSize(1);
    assertThat(lines.getFirst()).startsWith("fl-").doesNotContain(" ");
    TestShell again = TestShell.piped();
    assertThat(again.run("keys", "create", "me", "--home", home.toString())).isEqualTo(1);
    assertThat(again.err()).contains("there is a key named me already");
  }

  @Test
  void aCertificateWithoutItsKeyIsRefused(@TempDir Path home) {
    assertThat(shell.run("hub", "--home", home.toString(), "--tls-cert", "x.pem")).isEqualTo(2);

    assertThat(shell.err()).contains("--tls-cert and --tls-key are given together");
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
