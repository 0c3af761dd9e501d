package dev.flotilla.cli.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.hub.store.Store;
import dev.flotilla.hub.store.StoreLimits;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code flotilla up} with a file that no engine can load. */
final class BrokenModelIT {
  @Test
  void itIsSaidWhyAndTheNextStartHasForgottenIt(@TempDir Path folder) throws Exception {
    Path broken = Files.writeString(folder.resolve("broken.gguf"), "GGUF, or so it says");
    Path home = folder.resolve("home");
    try (FlotillaProcess up =
        FlotillaProcess.start(
            folder,
            Map.of("PATH", "/usr/bin:/bin"),
            "up",
            "--home",
            home.toString(),
            "--listen",
            "127.0.0.1:0",
            "--model",
            broken.toString())) {
      assertThat(up.exitCode(TestFleet.CHANGE_LIMIT)).as(up.output()).isEqualTo(1);
      assertThat(up.output())
          .contains("no worker can start: ", "broken.gguf")
          .contains("; nothing of this start is remembered");
    }
    try (Store store = Store.open(home, StoreLimits.DEFAULT, InstantSource.system())) {
      assertThat(store.revisions().newest(1)).isEmpty();
    }
  }
}
