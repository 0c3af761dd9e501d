package dev.flotilla.cli.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.cli.TestShell;
import dev.flotilla.cli.home.HomeLock;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which hub the commands ask: where nobody says, the one of the state folder. */
final class HubOptionsTest {
  /** Where nothing listens: what is asked is seen by what does not answer. */
  private static final String OWN = "http://127.0.0.1:1";

  private final Path folder;
  private final Path home;
  private final HomeLock hub;

  HubOptionsTest(@TempDir Path folder) {
    this.folder = folder;
    home = folder.resolve("home");
    hub = HomeLock.take(home, "hub", "flotilla up");
    hub.listensAt(OWN);
  }

  @AfterEach
  void itEnds() {
    hub.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "get workers",
        "describe node box",
        "keys create me",
        "keys list",
        "keys revoke me",
        "tokens create",
        "tokens list",
        "drain box",
        "chat hi",
        "update withdraw 1.0",
        "bench --model m --num-prompts 1",
      })
  void theHubOfTheStateFolderIsAsked(String command) {
    TestShell here = TestShell.piped().with("FLOTILLA_HOME", home.toString());

    assertThat(here.run(command.split(" "))).as(here.err()).isEqualTo(1);

    assertThat(here.err()).contains(OWN);
  }

  @Test
  void aStateFolderIsNamedOnTheCommandLineToo() {
    assertThat(asked("get", "workers", "--home", home.toString())).contains(OWN);
    assertThat(asked("keys", "create", "me", "--home", home.toString())).contains(OWN);
    assertThat(asked("get", "workers", "--home", home.toString(), "--hub", "127.0.0.1:2"))
        .as("an address says more than a folder")
        .contains("http://127.0.0.1:2");
  }

  @Test
  void aStateFolderOnWhichNoHubRunsIsSaid() {
    Path other = folder.resolve("other");

    assertThat(asked("get", "workers", "--home", other.toString()))
        .isEqualTo(
            "flotilla: no hub runs on "
                + other
                + ": start one with 'flotilla up --home "
                + other
                + "', or name the one you mean with --hub URL\n");
    TestShell here = TestShell.piped().with("FLOTILLA_HOME", other.toString());
    assertThat(here.run("get", "workers")).isEqualTo(1);
    assertThat(here.err())
        .as("another hub, at the usual address, is not the one that is meant")
        .startsWith("flotilla: no hub runs on " + other);
    assertThat(other).doesNotExist();
  }

  private static String asked(String... words) {
    TestShell shell = TestShell.piped();
    assertThat(shell.run(words)).as(shell.err()).isEqualTo(1);
    return shell.err();
  }
}
