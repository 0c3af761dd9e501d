package dev.flotilla.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.agent.engine.LlamaServerInstallation.Binary;
import dev.flotilla.agent.policy.Policy.EngineRule;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Finding and installing, with a shell script in the place of Python. */
class LlamaServerInstallationTest {
  /** Makes an environment of itself; its pip says and does what {@code pip.sh} says. */
  private static final String PYTHON =
      """
      #!/bin/sh
      case "$*" in
        *sys.version_info*) cat "TOOLS/version" ;;
        "-m venv "*)
          if [ -f "TOOLS/no-venv" ]; then echo 'ensurepip is not available'; exit 1; fi
          mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; echo venv >> "TOOLS/calls" ;;
        *"-m pip install"*) echo pip >> "TOOLS/calls"; . "TOOLS/pip.sh" ;;
        *--version) echo 'version: packaged 1' >&2 ;;
        *--help) echo '-m, --model FNAME' ;;
      esac
      """;

  @TempDir Path home;
  private Path tools;
  private final List<String> steps = new CopyOnWriteArrayList<>();

  @BeforeEach
  void aMachineWithAPython() throws IOException {
    tools = Files.createDirectories(home.resolve("tools"));
    program("python3", PYTHON.replace("TOOLS", tools.toString()));
    Files.writeString(tools.resolve("version"), "3.12\n");
    Files.writeString(tools.resolve("pip.sh"), "echo fine");
    Files.createFile(tools.resolve("calls"));
  }

  @Test
  void theProgramThatThePolicyNamesComesFirst() throws Exception {
    Path named = server("named", "version: named 1");
    server("llama-server", "version: path 1");
    assertThat(ensure(new EngineRule(Optional.of(named), true)).version()).isEqualTo("named 1");
  }

  @Test
  void aNamedProgramThatIsMissingIsSaid() {
    refused(
        new EngineRule(Optional.of(tools.resolve("gone")), true),
        "The policy names the llama-server " + tools.resolve("gone") + ", which is no program");
  }

  @Test
  void theProgramOnThePathComesNextAndABrokenOneIsPassedOver() throws Exception {
    program("llama-server", "#!/bin/sh\nexit 9\n");
    assertThat(ensure(rule(true)).version()).isEqualTo("packaged 1");
    server("llama-server", "version: path 1");
    Files.setLastModifiedTime(tools.resolve("llama-server"), FileTime.fromMillis(1));
    assertThat(ensure(rule(true)).version()).isEqualTo("path 1");
  }

  @Test
  void withoutThePoliciesLeaveNothingIsInstalled() throws Exception {
    refused(rule(false), "No llama-server is on the PATH, and the policy does not allow");
    assertThat(tools.resolve("calls")).isEmptyFile();
  }

  @Test
  void anInstallationIsMadeOnceAndSaysItsSteps() throws Exception {
    Binary binary = ensure(rule(true));
    assertThat(binary.program())
        .containsExactly(
            folder().resolve("bin/python").toString(),
            "-I",
            folder().resolve("llama_server_launcher.py").toString());
    assertThat(folder().resolve("llama_server_launcher.py")).content().contains("LLAMA_API_KEY");
    ensure(rule(true));

    assertThat(tools.resolve("calls")).hasContent("venv\npip");
    assertThat(steps)
        .anyMatch(step -> step.startsWith("making a Python environment"))
        .contains("fetching xllamacpp==2026.10.11549")
        .endsWith("installed");
  }

  @Test
  void whatPipSaidLastIsTold() throws Exception {
    Files.writeString(
        tools.resolve("pip.sh"), "echo 'ERROR: No matching distribution found'; exit 1");
    refused(
        rule(true),
        "pip could not install xllamacpp==2026.10.11549 (exit code 1): ERROR: No matching"
            + " distribution found");
    assertThat(folder()).doesNotExist();
    assertNothingHalfMade();
    Files.writeString(tools.resolve("pip.sh"), "echo fine");
    assertThat(ensure(rule(true)).version()).isEqualTo("packaged 1");
  }

  @Test
  void anInstallationThatWasInterruptedIsMadeAnew() throws Exception {
    Path half =
        Files.createDirectories(home.resolve("engines/xllamacpp-2026.10.11549.part-77/bin"));
    Files.createFile(half.resolve("python"));
    assertThat(ensure(rule(true)).version()).isEqualTo("packaged 1");
    assertNothingHalfMade();
  }

  @Test
  void twoWorkersOfOneAgentInstallOnceAndTheOneThatWaitsSaysNothing() throws Exception {
    Files.writeString(tools.resolve("pip.sh"), "sleep 0.5");
    try (ExecutorService agents = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<Binary> one = agents.submit(() -> ensure(rule(true)));
      Future<Binary> two = agents.submit(() -> ensure(rule(true)));
      assertThat(one.get().program()).isEqualTo(two.get().program());
    }
    assertThat(tools.resolve("calls")).hasContent("venv\npip");
    assertThat(steps).noneMatch(step -> step.contains("another agent"));
  }

  @Test
  void aPythonThatIsTooOldOrMissingIsSaidWithTheWayToGetOne() throws Exception {
    Files.writeString(tools.resolve("version"), "3.9\n");
    refused(
        rule(true), "needs Python 3.10 or newer to be installed, and " + tools + "/python3 is 3.9");
    Files.delete(tools.resolve("python3"));
    refused(
        rule(true), "none is on the PATH; install it (Debian: 'apt install python3 python3-venv'");
  }

  @Test
  void aPythonWithoutEnvironmentsIsSaidWithTheWayToGetThem() throws Exception {
    Files.createFile(tools.resolve("no-venv"));
    refused(rule(true), "install the missing part (Debian, Ubuntu: 'apt install python3-venv')");
    assertNothingHalfMade();
  }

  private void assertNothingHalfMade() throws IOException {
    try (var files = Files.list(home.resolve("engines"))) {
      assertThat(files).noneMatch(file -> file.toString().contains(".part-"));
    }
  }

  private Path folder() {
    return home.resolve("engines/xllamacpp-2026.10.11549");
  }

  private static EngineRule rule(boolean install) {
    return new EngineRule(Optional.empty(), install);
  }

  private Binary ensure(EngineRule rule) throws EngineUnavailable, InterruptedException {
    return installation(rule).ensure((subject, step, done, total, finished) -> steps.add(step));
  }

  private void refused(EngineRule rule, String why) {
    assertThatThrownBy(() -> ensure(rule))
        .isInstanceOf(EngineUnavailable.class)
        .hasMessageContaining(why);
  }

  /** The real tools of a shell are found behind the folder of the test. */
  private LlamaServerInstallation installation(EngineRule rule) {
    return new LlamaServerInstallation(home, rule, tools + File.pathSeparator + "/nowhere");
  }

  private Path server(String name, String version) throws IOException {
    return program(
        name,
        """
        #!/bin/sh
        [ "$1" = --version ] && echo '%s' >&2 && exit 0
        echo '-m, --model FNAME'
        """
            .formatted(version));
  }

  private Path program(String name, String text) throws IOException {
    Path file = Files.writeString(tools.resolve(name), text);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    return file;
  }
}
