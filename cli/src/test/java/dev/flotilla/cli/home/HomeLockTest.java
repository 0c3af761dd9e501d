package dev.flotilla.cli.home;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.cli.output.Failure;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class HomeLockTest {
  @Test
  void theSecondOneOnAHomeIsToldWhoHoldsIt(@TempDir Path home) {
    try (HomeLock held = HomeLock.take(home, "hub", "flotilla up")) {
      held.listensAt("http://127.0.0.1:8484");

      assertThatThrownBy(() -> HomeLock.take(home, "hub", "flotilla up"))
          .isInstanceOf(Failure.class)
          .hasMessageContaining(
              "is in use by 'flotilla up' (process " + ProcessHandle.current().pid())
          .hasMessageContaining("since 20")
          .hasMessageContaining("at http://127.0.0.1:8484")
          .hasMessageContaining("--home");
    }
  }

  @Test
  void aHomeIsFreeAgainAfterItsHolder(@TempDir Path home) {
    HomeLock.take(home, "hub", "flotilla up").close();

    HomeLock.take(home, "hub", "flotilla hub").close();
  }

  @Test
  void whetherAHubRunsOnAHomeIsSeenWithoutTakingIt(@TempDir Path home) {
    assertThat(HomeLock.isFree(home, "hub")).isTrue();
    assertThat(home).as("nothing is made by looking").isEmptyDirectory();
    try (HomeLock held = HomeLock.take(home, "hub", "flotilla up")) {
      held.listensAt("");
      assertThat(HomeLock.isFree(home, "hub")).isFalse();
    }
    assertThat(HomeLock.isFree(home, "hub")).isTrue();
  }

  @Test
  void whereTheHubOfAHomeListensIsKnownWhileItRuns(@TempDir Path home) {
    assertThat(HomeLock.hubAddress(home)).isEmpty();
    try (HomeLock held = HomeLock.take(home, "hub", "flotilla up")) {
      assertThat(HomeLock.hubAddress(home)).as("it does not listen yet").isEmpty();
      held.listensAt("http://127.0.0.1:9000");
      assertThat(HomeLock.hubAddress(home)).contains("http://127.0.0.1:9000");
    }
    assertThat(HomeLock.hubAddress(home)).as("it has ended").isEmpty();
  }

  @Test
  void aHubAndAnAgentMayShareAHome(@TempDir Path home) {
    try (HomeLock hub = HomeLock.take(home, "hub", "flotilla hub");
        HomeLock agent = HomeLock.take(home, "agent", "flotilla agent")) {
      hub.listensAt("http://127.0.0.1:8484");
      agent.listensAt("");
    }
  }

  @Test
  void aHomeThatCannotBeWrittenSaysSo(@TempDir Path folder) throws Exception {
    Path home = Files.writeString(folder.resolve("home"), "a file where a folder is needed");

    assertThatThrownBy(() -> HomeLock.take(home, "hub", "flotilla up"))
        .isInstanceOf(Failure.class)
        .hasMessageStartingWith("can't write to the state folder " + home)
        .hasMessageContaining("--home");
  }
}
