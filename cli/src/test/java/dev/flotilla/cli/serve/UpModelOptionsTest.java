package dev.flotilla.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.cli.output.Failure;
import dev.flotilla.hub.spec.Revisions;
import dev.flotilla.hub.store.Store;
import dev.flotilla.hub.store.StoreFailed;
import dev.flotilla.hub.store.StoreLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** One state folder, and the command lines of {@code flotilla up} that are run on it in turn. */
final class UpModelOptionsTest {
  private static final InstantSource CLOCK =
      InstantSource.fixed(Instant.parse("2026-11-29T12:00:00Z"));

  @TempDir Path home;
  private String engineThere = "builtin";
  private Store store;
  private Revisions revisions;

  @BeforeEach
  void open() throws Exception {
    store = Store.open(home, StoreLimits.DEFAULT, CLOCK);
    revisions = new Revisions(store, store, CLOCK, activated -> {});
    revisions.start();
  }

  @AfterEach
  void close() {
    store.close();
  }

  @Command(name = "up")
  private static final class Typed {
    @Mixin private final UpModelOptions options = new UpModelOptions();
  }

  private Optional<String> up(String... line) {
    Typed typed = new Typed();
    new CommandLine(typed).parseArgs(line);
    typed.options.check();
    return typed.options.configure(revisions, () -> engineThere);
  }

  private UpModel served() {
    return UpModel.of(revisions.inForce().spec()).orElseThrow();
  }

  @Test
  void theSameCommandLineStartsTwiceAndChangesNothingTheSecondTime() {
    assertThat(up("--workers", "1")).isEmpty();
    assertThat(served().workers()).isEqualTo(1);

    assertThat(up("--workers", "1")).isEmpty();

    assertThat(revisions.inForce().number()).isEqualTo(1);
    assertThat(served().name()).isEqualTo(UpModel.DEFAULT_NAME);
  }

  @Test
  void theEngineIsWhatIsThereUntilOneIsSaid() {
    up();
    assertThat(served().engine()).isEqualTo("builtin");

    engineThere = "llama-server";
    up("--slots", "2");
    assertThat(served().engine())
        .as("remembered, whatever was installed since")
        .isEqualTo("builtin");

    up("--engine", "llama-server");
    assertThat(served().engine()).isEqualTo("llama-server");
    assertThatThrownBy(() -> up("--engine", "vllm"))
        .hasMessageContaining("it is one of builtin, llama-server");
  }

  @Test
  void theSameModelTwiceIsOneRevision() throws IOException {
    String file = Files.writeString(home.resolve("Tiny-Q4_0.gguf"), "").toString();

    assertThat(up("--model", file, "--slots", "2")).isEmpty();
    assertThat(up("--model", file, "--slots", "2")).isEmpty();

    assertThat(revisions.inForce().number()).isEqualTo(1);
  }

  @Test
  void oneOptionChangesThatValueOfWhatUpServedAndSaysSo() throws IOException {
    String file = Files.writeString(home.resolve("Tiny-Q4_0.gguf"), "").toString();
    up("--model", file, "--slots", "2", "--context", "8192");

    assertThat(up("--workers", "3").orElseThrow()).startsWith("changed (revision 2): ");

    assertThat(served()).isEqualTo(new UpModel(file, "tiny", "builtin", 8192, 2, 3));
    assertThat(up()).isEmpty();
    assertThat(served().workers()).isEqualTo(3);
  }

  @Test
  void whatApplyPutInForceIsNotChangedFromHere() throws StoreFailed {
    UpModel files = UpModel.ofDefaults(UpModel.DEFAULT_SOURCE, UpModel.DEFAULT_NAME, "builtin");
    revisions.apply(files.yaml(), "fleet.yaml", "ann", false);

    assertThatThrownBy(() -> up("--workers", "1", "--slots", "2"))
        .isInstanceOf(Failure.class)
        .hasMessageContaining("revision 1")
        .hasMessageContaining("'flotilla apply' (by ann): --slots, --workers change only");

    assertThat(up()).isEmpty();
    assertThat(up("--model", "hf:o/r/m.gguf").orElseThrow()).contains("revision 2");
    assertThat(served().name()).isEqualTo("m");
  }

  @Test
  void theOptionsTakeWhatAFileTakes() {
    assertThat(up("--context", "64", "--slots", "256", "--workers", "64")).isEmpty();
    assertThat(up("--context", "16777216", "--slots", "1", "--workers", "1")).isPresent();
  }
}
