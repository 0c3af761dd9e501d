package dev.flotilla.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.cli.TestShell;
import dev.flotilla.hub.Hub;
import dev.flotilla.hub.HubConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Keys, tokens and releases of a hub in this process, given and taken back. */
final class RevokeCommandTest {
  private static final String VERSION = "0.1.0+412.g4cad8a3";

  @TempDir Path folder;
  private Hub hub;

  @BeforeEach
  void start() throws Exception {
    hub = Hub.start(HubConfig.local(folder.resolve("home")));
  }

  @AfterEach
  void stop() {
    hub.close();
  }

  @Test
  void aKeyIsTakenBackAndTheLastOfAnAdminByForceAlone() {
    ask("keys", "create", "editor");
    ask("keys", "create", "--admin", "me");

    assertThat(refused("keys", "revoke", "me")).contains("me is the last admin key");
    assertThat(ask("keys", "revoke", "me", "--force")).isEqualTo("the key me is revoked\n");
    assertThat(ask("keys", "revoke", "editor")).isEqualTo("the key editor is revoked\n");

    assertThat(ask("get", "keys")).isEmpty();
  }

  @Test
  void aTokenIsTakenBack() {
    ask("tokens", "create");
    assertThat(ask("get", "tokens")).isNotEmpty();

    assertThat(ask("tokens", "revoke", "1")).isEqualTo("the token 1 is revoked\n");

    assertThat(ask("get", "tokens")).isEmpty();
  }

  @Test
  void aReleaseIsTakenBack() throws Exception {
    ask("update", "offer", release().toString());
    assertThat(ask("get", "releases")).contains(VERSION);

    assertThat(ask("update", "withdraw", VERSION))
        .isEqualTo("version " + VERSION + " is withdrawn; agents that run it keep it\n");

    assertThat(ask("get", "releases")).isEmpty();
  }

  @Test
  void whatIsNotThereIsNamedAsItWasTyped() {
    assertThat(refused("keys", "revoke", "two words+more")).contains("two words+more");
    assertThat(refused("tokens", "revoke", "1?x#y")).contains("1?x#y");
    assertThat(refused("update", "withdraw", "100%")).contains("100%");
  }

  private String ask(String... words) {
    TestShell shell = TestShell.piped();
    assertThat(shell.ask(hub.address().toString(), words)).as(shell.err()).isZero();
    return shell.out();
  }

  private String refused(String... words) {
    TestShell shell = TestShell.piped();
    assertThat(shell.ask(hub.address().toString(), words)).isEqualTo(1);
    return shell.err();
  }

  private Path release() throws Exception {
    Path build = folder.resolve("build");
    Files.createDirectories(build.resolve("lib"));
    for (String file : List.of("flotilla", "java.options", "builtin.options", "lib/a.jar")) {
      Files.writeString(build.resolve(file), file);
    }
    Files.writeString(build.resolve("version"), VERSION);
    String key = folder.resolve("release.key").toString();
    assertThat(TestShell.piped().run("release", "keygen", key)).isZero();
    TestShell shell = TestShell.piped();
    assertThat(
            shell.run(
                "release", "--key", key, "--out", folder.toString(), "--from", build.toString()))
        .as(shell.err())
        .isZero();
    return Path.of(shell.out().strip());
  }
}
