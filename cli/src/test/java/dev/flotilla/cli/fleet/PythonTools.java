package dev.flotilla.cli.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** A Python environment of the tests' own, made once. */
final class PythonTools {
  private static final String OPENAI = "openai==3.57.0";
  private static final long MINUTES_MAX = 8;

  private PythonTools() {}

  /** A Python that has the openai package. */
  static Path withOpenAi() throws IOException, InterruptedException {
    Path environment = TestFleet.cache().resolve("venv-" + OPENAI.replace("==", "-"));
    Path python = environment.resolve("bin").resolve("python");
    Path whole = environment.resolve("complete");
    if (!Files.exists(whole)) {
      Files.createDirectories(environment.getParent());
      run("python3", "-m", "venv", environment.toString());
      run(python.toString(), "-m", "pip", "install", "--quiet", OPENAI);
      Files.createFile(whole);
    }
    return python;
  }

  /** What the program prints; it must end well. */
  static String run(String... command) throws IOException, InterruptedException {
    Path output = Files.createTempFile("flotilla-tool", ".out");
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(output.toFile())
              .start();
      boolean ended = process.waitFor(MINUTES_MAX, TimeUnit.MINUTES);
      process.destroyForcibly();
      String said = Files.readString(output);
      assertThat(ended).as("ended in time:%n%s", said).isTrue();
      assertThat(process.exitValue()).as(said).isZero();
      return said;
    } finally {
      Files.delete(output);
    }
  }
}
