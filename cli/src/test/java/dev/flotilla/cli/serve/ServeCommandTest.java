package dev.flotilla.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.cli.TestShell;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code flotilla serve} refuses before it reads a model. */
final class ServeCommandTest {
  @TempDir private Path folder;

  @Test
  void withoutAModelItSaysWhatIsMissing() {
    assertThat(refusal()).contains("say what to serve: a GGUF file");
    assertThat(refusal("/nowhere/m.gguf")).contains("MODEL: there is no file /nowhere/m.gguf");
  }

  @Test
  void beyondThisMachineItWantsAKey() throws IOException {
    assertThat(refusal(model(), "--listen", "0.0.0.0:8485"))
        .contains("a key is needed, in FLOTILLA_ENGINE_KEY or --api-key-file");
  }

  @Test
  void aKeyFileThatOthersCanReadIsRefused() throws IOException {
    Path key = Files.writeString(folder.resolve("key"), "sesame\n");
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-r--r--"));

    assertThat(refusal(model(), "--api-key-file", key.toString())).contains("chmod 600 it");
  }

  @Test
  void valuesThatCanNotBeMeantAreRefused() throws IOException {
    assertThat(refusal(model(), "--memory", "lots")).contains("no size, such as 512M");
    assertThat(refusal(model(), "--memory", "1G", "--memory-fraction", "0.5"))
        .contains("exclude each other");
    assertThat(refusal(model(), "--memory-fraction", "1.5")).contains("over 0 to 1");
    assertThat(refusal(model(), "--kv-type", "q4")).contains("it is f16 or q8_0");
    assertThat(refusal(model(), "--reasoning-format", "deepseek")).contains("it is one of inline");
    assertThat(refusal(model(), "--slots", "1000")).contains("--slots");
  }

  @Test
  void aJvmWithoutVectorsIsNotServedFrom() throws IOException {
    TestShell shell = TestShell.piped();

    assertThat(shell.run("serve", model())).isEqualTo(1);

    assertThat(shell.err())
        .contains("without the module jdk.incubator.vector")
        .contains("./flotilla");
  }

  private String model() throws IOException {
    return Files.writeString(folder.resolve("m.gguf"), "").toString();
  }

  private static String refusal(String... arguments) {
    TestShell shell = TestShell.piped();
    String[] line = new String[arguments.length + 1];
    line[0] = "serve";
    System.arraycopy(arguments, 0, line, 1, arguments.length);
    assertThat(shell.run(line)).isEqualTo(2);
    return shell.err();
  }
}
