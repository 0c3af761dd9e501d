package dev.flotilla.bench.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.testkit.scripted.ScriptedEngine;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** A server by its command line: when it is ready, and what is said where it never is. */
final class CommandEngineTest {
  private static final Setting SETTING =
      new Setting("some-model", 1, 512, OptionalInt.empty(), Optional.empty());

  private final List<InThisJvm> started = new ArrayList<>();

  @Test
  void itIsReadyOnceItHasGivenAToken() throws Exception {
    CommandEngine engine = engine(port -> ScriptedEngine.startOn(port).model("theirs"));
    try (StartedEngine ready = engine.start(SETTING)) {
      assertThat(ready.model()).as("the only one that it lists").isEqualTo("theirs");
      assertThat(ready.baseUrl()).matches("http://127\\.0\\.0\\.1:\\d+/v1");
      assertThat(ready.commandLine()).startsWith("serve", "--model", "some-model", "--port");
      assertThat(ready.readyAfter()).isPresent();
      assertThat(ready.whyEnded()).isEmpty();
    }
    assertThat(started).hasSize(1).allMatch(each -> each.closed);
  }

  @Test
  void oneThatNeverGetsReadyIsEndedAndTheTimeIsNamed() {
    CommandEngine engine = engine(port -> ScriptedEngine.startOn(port).loading(true));
    assertThatThrownBy(() -> engine.start(SETTING))
        .isInstanceOf(EngineNotStarted.class)
        .hasMessage(
            "mine was not ready within 1 s (GET /health gave 503); a longer wait is --ready-timeout"
                + " SECONDS.");
    assertThat(started).hasSize(1).allMatch(each -> each.closed);
  }

  @Test
  void oneThatEndsAtOnceIsToldWithItsLastWords() {
    CommandEngine engine =
        new CommandEngine(
            "mine",
            new CommandTemplate(List.of("serve", "{port}")),
            (name, command, cores) -> new Dead(),
            Duration.ofSeconds(30));
    assertThatThrownBy(() -> engine.start(SETTING))
        .isInstanceOf(EngineNotStarted.class)
        .hasMessage(
            "mine did not start: it ended with exit code 3; its last words: no such model | bye.");
  }

  @Test
  void aPortThatAnotherProgramTookIsTriedNoMoreThanFiveTimes() throws Exception {
    List<ScriptedEngine> others = new ArrayList<>();
    try {
      CommandEngine engine =
          new CommandEngine(
              "mine",
              new CommandTemplate(List.of("serve", "{port}")),
              (name, command, cores) -> {
                others.add(
                    ScriptedEngine.startOn(Integer.parseInt(command.getLast())).loading(true));
                return new Dead();
              },
              Duration.ofSeconds(30));
      assertThatThrownBy(() -> engine.start(SETTING))
          .isInstanceOf(EngineNotStarted.class)
          .hasMessage(
              "mine did not start: other programs took each of the 5 ports that were tried.");
      assertThat(others).hasSize(5);
    } finally {
      others.forEach(ScriptedEngine::close);
    }
  }

  private CommandEngine engine(java.util.function.IntFunction<ScriptedEngine> serve) {
    return new CommandEngine(
        "mine",
        new CommandTemplate(List.of("serve", "--model", "{model}", "--port", "{port}")),
        (name, command, cores) -> {
          InThisJvm process = new InThisJvm(serve.apply(Integer.parseInt(command.getLast())));
          started.add(process);
          return process;
        },
        Duration.ofSeconds(1));
  }

  /** A process that is a part of this one. */
  private static final class InThisJvm implements ProcessStart.Running {
    private final ScriptedEngine engine;
    private boolean closed;

    InThisJvm(ScriptedEngine engine) {
      this.engine = engine;
    }

    @Override
    public boolean isAlive() {
      return !closed;
    }

    @Override
    public int exitCode() {
      throw new IllegalStateException("it runs");
    }

    @Override
    public List<String> lastLines() {
      return List.of();
    }

    @Override
    public long residentBytes() {
      return 1;
    }

    @Override
    public void close() {
      engine.close();
      closed = true;
    }
  }

  /** A process that ended as soon as it began. */
  private static final class Dead implements ProcessStart.Running {
    @Override
    public boolean isAlive() {
      return false;
    }

    @Override
    public int exitCode() {
      return 3;
    }

    @Override
    public List<String> lastLines() {
      return List.of("no such model", "bye");
    }

    @Override
    public long residentBytes() {
      return 0;
    }

    @Override
    public void close() {}
  }
}
