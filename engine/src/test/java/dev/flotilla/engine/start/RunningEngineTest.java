package dev.flotilla.engine.start;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.engine.model.KvType;
import dev.flotilla.engine.serve.ServeLimits;
import dev.flotilla.engine.serve.ServeSettings;
import dev.flotilla.testkit.real.SmallModel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a start refuses; one that succeeds is in the tests of the whole command. */
class RunningEngineTest {
  private static final long MIB = 1 << 20;

  /** Where engines listen; 0 for a port that is free. */
  private int port;

  @Test
  void weightsBeyondTheBudgetAreRefusedUnread() {
    assertThatThrownBy(() -> start(SmallModel.gguf(), OptionalInt.empty(), 64 * MIB))
        .isInstanceOf(StartRefused.class)
        .hasMessageContaining("and the budget is 64.0 MiB (--memory)");
  }

  @Test
  void aContextBeyondTheModelsIsRefusedWithBothNumbers() {
    assertThatThrownBy(() -> start(SmallModel.gguf(), OptionalInt.of(10_000), 4096 * MIB))
        .isInstanceOf(StartRefused.class)
        .hasMessageContaining("8,192 tokens at most: --context 10,000");
  }

  @Test
  void whatIsNoModelIsRefused(@TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("m.gguf"), "no model");
    assertThatThrownBy(() -> start(file, OptionalInt.empty(), 4096 * MIB))
        .isInstanceOf(StartRefused.class)
        .hasMessageContaining(file.toString());
  }

  @Test
  void aTakenPortIsRefusedBeforeTheModelIsRead() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = taken.getLocalPort();
      assertThatThrownBy(() -> start(Path.of("no-such-model"), OptionalInt.empty(), 4096 * MIB))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("127.0.0.1:" + port + " is in use")
          .hasMessageContaining("ss -ltnp")
          .hasMessageContaining("--listen");
    }
  }

  private void start(Path model, OptionalInt context, long memory)
      throws StartRefused, IOException {
    RunningEngine.start(
            new StartOptions(
                model,
                "m",
                Optional.empty(),
                context,
                2,
                OptionalInt.of(1),
                Budget.of(memory),
                KvType.F16,
                new ServeSettings(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
                    "",
                    ServeSettings.Reasoning.INLINE,
                    "",
                    ServeLimits.DEFAULT),
                "test"),
            _ -> {})
        .close();
  }
}
