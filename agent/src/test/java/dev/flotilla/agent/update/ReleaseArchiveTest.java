package dev.flotilla.agent.update;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.wire.release.Release;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Archives as their maker meant them, and as somebody with the key could mean them. */
class ReleaseArchiveTest {
  private static final UpdateLimits SMALL =
      new UpdateLimits(1 << 20, 8, Duration.ofSeconds(5), 3, Duration.ofMillis(1), 0);

  /** A bomb is small where it is packed. */
  private static final int SMALL_FILE = 200_000;

  @TempDir Path folder;

  @Test
  void aReleaseIsUnpackedAndItsLauncherCanBeStarted() throws Exception {
    Path target = unpack(Archives.contents("0.2.0"));

    assertThat(target.resolve("flotilla")).isExecutable();
    assertThat(target.resolve("lib/flotilla-cli.jar")).hasSize(300_000);
    assertThat(Files.readString(target.resolve("version"))).isEqualTo("0.2.0\n");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "../evil",
        "/etc/evil",
        "lib/../../evil.jar",
        "lib/deeper/x.jar",
        "lib/",
        "lib/.jar",
        "lib/x.so",
        "lib\\x.jar",
        "release.sha256",
        "FLOTILLA",
        "lib/x\n.jar"
      })
  void aFileThatNoReleaseHasIsRefusedBeforeAnythingIsWritten(String name) {
    Map<String, byte[]> contents = Archives.contents("0.2.0");
    contents.put(name, Archives.bytes("x"));

    assertThatThrownBy(() -> unpack(contents))
        .isInstanceOf(UpdateFailed.class)
        .hasMessage("its archive has a file that no release has");
    assertThat(folder.resolve("target/lib")).isEmptyDirectory();
    assertThat(folder.resolve("evil")).doesNotExist();
  }

  @Test
  void aBombIsStoppedAtTheLimitWhateverItSaysOfItsSize() throws Exception {
    Map<String, byte[]> contents = Archives.contents("0.2.0");
    contents.put("lib/bomb.jar", new byte[64 << 20]);
    byte[] zip = Archives.zip(contents);
    assertThat(zip.length).isLessThan(SMALL_FILE);

    assertThatThrownBy(() -> unpack(zip, "0.2.0", SMALL))
        .isInstanceOf(UpdateFailed.class)
        .hasMessageContaining("too large unpacked: lib/bomb.jar");
    try (Stream<Path> written = Files.walk(folder.resolve("target"))) {
      assertThat(
              written.filter(Files::isRegularFile).mapToLong(file -> file.toFile().length()).sum())
          .isLessThanOrEqualTo(SMALL.unpackedBytesMax());
    }
  }

  @Test
  void theNoteOfItsVersionAndTheLauncherAreSmall() {
    Map<String, byte[]> contents = Archives.contents("0.2.0");
    contents.put("flotilla", new byte[(1 << 20) + 1]);

    assertThatThrownBy(() -> unpack(contents))
        .isInstanceOf(UpdateFailed.class)
        .hasMessageContaining("flotilla goes beyond the limit");
  }

  @Test
  void moreFilesThanAReleaseHasAreRefused() throws Exception {
    Map<String, byte[]> contents = Archives.contents("0.2.0");
    for (int i = 0; i < 8; i++) {
      contents.put("lib/" + i + ".jar", new byte[0]);
    }

    byte[] zip = Archives.zip(contents);
    assertThatThrownBy(() -> unpack(zip, "0.2.0", SMALL))
        .isInstanceOf(UpdateFailed.class)
        .hasMessage("its archive has more than 8 files");
  }

  @ParameterizedTest
  @ValueSource(strings = {"flotilla", "java.options", "builtin.options", "version"})
  void whatEveryReleaseHasMustBeThere(String name) {
    Map<String, byte[]> contents = Archives.contents("0.2.0");
    contents.remove(name);

    assertThatThrownBy(() -> unpack(contents))
        .isInstanceOf(UpdateFailed.class)
        .hasMessage("its archive has no " + name);
  }

  @Test
  void anArchiveOfAnotherVersionOrOfNothingIsRefused() throws Exception {
    byte[] other = Archives.zip(Archives.contents("0.1.9"));
    assertThatThrownBy(() -> unpack(other, "0.2.0", UpdateLimits.DEFAULTS))
        .isInstanceOf(UpdateFailed.class)
        .hasMessage("its archive calls itself another version");

    for (String text : new String[] {"", "no archive at all", "PK\3\4 cut"}) {
      assertThatThrownBy(
              () -> unpack(text.getBytes(StandardCharsets.UTF_8), "0.2.0", UpdateLimits.DEFAULTS))
          .isInstanceOf(UpdateFailed.class)
          .hasMessageStartingWith("its file is no archive: ");
    }
  }

  private Path unpack(Map<String, byte[]> contents) throws Exception {
    return unpack(Archives.zip(contents), "0.2.0", UpdateLimits.DEFAULTS);
  }

  private Path unpack(byte[] zip, String version, UpdateLimits limits) throws Exception {
    Path archive = Files.write(folder.resolve("a.zip"), zip);
    Path target = folder.resolve("target");
    deleteAll(target);
    Release release = new Release(version, Math.max(1, zip.length), "00".repeat(32), "");
    ReleaseArchive.unpack(archive, target, release, limits);
    return target;
  }

  private static void deleteAll(Path target) throws Exception {
    if (Files.exists(target)) {
      try (Stream<Path> all = Files.walk(target)) {
        for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(each);
        }
      }
    }
  }
}
