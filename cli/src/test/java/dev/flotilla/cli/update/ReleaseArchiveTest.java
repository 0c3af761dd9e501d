package dev.flotilla.cli.update;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.cli.TestShell;
import dev.flotilla.wire.release.ReleaseKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code flotilla release}, from a key to two files that an agent would take. */
final class ReleaseArchiveTest {
  private static final String VERSION = "0.1.0+412.g4cad8a3";

  @TempDir Path folder;

  @Test
  void aKeyIsForItsOwnerAloneAndNeverWrittenOver() throws Exception {
    Path file = folder.resolve("release.key");
    TestShell first = TestShell.piped();
    assertThat(first.run("release", "keygen", file.toString())).as(first.err()).isZero();
    assertThat(ReleaseKey.parse(first.out().strip())).isPresent();
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
    String secret = Files.readString(file);

    TestShell second = TestShell.piped();
    assertThat(second.run("release", "keygen", file.toString())).isEqualTo(1);
    assertThat(second.err()).contains("is there already, and a key is never written over");
    assertThat(Files.readString(file)).isEqualTo(secret);
  }

  @Test
  void aReleaseHoldsWhatItIsStartedFromAndIsSigned() throws Exception {
    ReleaseKey key = keygen();
    Path build = unpacked();
    TestShell shell = release(build);
    assertThat(shell.err()).contains("flotilla update offer flotilla-" + VERSION + ".zip");
    Path file = folder.resolve("flotilla-" + VERSION + ".zip");
    assertThat(shell.out().strip()).isEqualTo(file.toString());

    ReleaseFile made = ReleaseFile.read(file);
    assertThat(key.signed(made.release())).isTrue();
    assertThat(made.release().version()).isEqualTo(VERSION);
    assertThat(made.release().bytes()).isEqualTo(Files.size(file));
    try (ZipFile zip = new ZipFile(file.toFile())) {
      assertThat(Collections.list(zip.entries()))
          .extracting(ZipEntry::getName)
          .containsExactly(
              "builtin.options", "flotilla", "java.options", "lib/a.jar", "lib/b.jar", "version");
    }
    byte[] bytes = Files.readAllBytes(file);
    release(build);
    assertThat(Files.readAllBytes(file)).as("the same build").isEqualTo(bytes);
  }

  @Test
  void theFolderThatItGoesToIsMadeWhereThereIsNone() throws Exception {
    keygen();
    String key = folder.resolve("release.key").toString();
    String build = unpacked().toString();
    Path out = folder.resolve("releases/new");
    TestShell shell = TestShell.piped();
    assertThat(shell.run("release", "--key", key, "--from", build, "--out", out.toString()))
        .as(shell.err())
        .isZero();
    assertThat(out.resolve("flotilla-" + VERSION + ".zip.json")).exists();

    TestShell inTheWay = TestShell.piped();
    assertThat(inTheWay.run("release", "--key", key, "--from", build, "--out", key + "/x"))
        .isEqualTo(2);
    assertThat(inTheWay.err())
        .contains(
            "--out: can't make the folder " + key + "/x: there is no permission for that, or");
  }

  @Test
  void aBuildOfTheSourceTreeHasItsLauncherAndItsOptionsInTheTree() throws Exception {
    keygen();
    Path target = folder.resolve("tree/cli/target");
    Files.createDirectories(target.resolve("lib"));
    Files.writeString(target.resolve("lib/a.jar"), "a");
    Files.writeString(target.resolve("version"), VERSION);
    Files.writeString(folder.resolve("tree/flotilla"), "the launcher");
    Files.writeString(folder.resolve("tree/cli/java.options"), "-Xmx1m");
    Path engine = folder.resolve("tree/agent/src/main/resources/dev/flotilla/agent/engine");
    Files.createDirectories(engine);
    Files.writeString(engine.resolve("builtin.options"), "-Xmx2m");
    release(target);
    try (ZipFile zip = new ZipFile(folder.resolve("flotilla-" + VERSION + ".zip").toFile())) {
      assertThat(zip.getInputStream(zip.getEntry("flotilla"))).hasContent("the launcher");
      assertThat(zip.getInputStream(zip.getEntry("java.options"))).hasContent("-Xmx1m");
      assertThat(zip.getInputStream(zip.getEntry("builtin.options"))).hasContent("-Xmx2m");
    }
  }

  @Test
  void whatCanNotBeMadeIsSaidInOneLine() throws Exception {
    keygen();
    Path build = unpacked();
    Files.writeString(build.resolve("version"), "next week's");
    Path key = folder.resolve("release.key");
    refused("there is no version in " + build, key, "--from", build.toString());
    refused("no Ed25519 key in PEM", noKey(), "--from", unpacked().toString());
    refused("this command runs from class files; name a build with --from DIR", key);
    assertThat(folder.resolve("flotilla-" + VERSION + ".zip")).doesNotExist();
  }

  @Test
  void whatIsOfferedMustBeARelease() throws Exception {
    Path file = Files.writeString(folder.resolve("x.zip"), "x");
    TestShell alone = TestShell.piped();
    assertThat(alone.run("update", "offer", file.toString())).isEqualTo(1);
    assertThat(alone.err()).contains("there is no x.zip.json, which has its signature");

    Files.writeString(folder.resolve("x.zip.json"), "{\"version\":\"1\"}");
    TestShell half = TestShell.piped();
    assertThat(half.run("update", "offer", file.toString())).isEqualTo(1);
    assertThat(half.err()).contains("x.zip.json is no release's");
  }

  @Test
  void whatIsOfferedIsTheArchiveThatItsNoteSpeaksOf() throws Exception {
    keygen();
    release(unpacked());
    Path file = folder.resolve("flotilla-" + VERSION + ".zip");
    Path note = ReleaseFile.noteOf(file);
    byte[] whole = Files.readAllBytes(file);
    String said = Files.readString(note);

    Files.write(file, Arrays.copyOf(whole, whole.length - 10));
    notOffered(file, "has " + (whole.length - 10) + " bytes, and", "it was cut short");
    byte[] changed = whole.clone();
    changed[whole.length / 2] ^= 1;
    Files.write(file, changed);
    notOffered(file, "has SHA-256 ", "it was changed");

    Files.write(file, whole);
    Files.writeString(note, said.replace(VERSION, "0.1.0+413.gdecade"));
    notOffered(
        file,
        "calls itself version " + VERSION + ", and " + note.getFileName(),
        "says 0.1.0+413.gdecade: the two are not of one release");
  }

  /** Refused here: the hub that is named is none. */
  private static void notOffered(Path file, String... why) {
    TestShell shell = TestShell.piped();
    assertThat(shell.ask("http://127.0.0.1:1", "update", "offer", file.toString())).isEqualTo(1);
    assertThat(shell.err()).contains(why).contains("'flotilla release' makes both anew");
  }

  private ReleaseKey keygen() {
    TestShell shell = TestShell.piped();
    assertThat(shell.run("release", "keygen", folder.resolve("release.key").toString())).isZero();
    return ReleaseKey.parse(shell.out().strip()).orElseThrow();
  }

  private Path noKey() throws IOException {
    return Files.writeString(folder.resolve("no.key"), "ed25519: not so");
  }

  private Path unpacked() throws IOException {
    Path build = folder.resolve("build");
    Files.createDirectories(build.resolve("lib"));
    Files.writeString(build.resolve("flotilla"), "#!/bin/sh\n");
    Files.writeString(build.resolve("java.options"), "-Xmx1m\n");
    Files.writeString(build.resolve("builtin.options"), "-Xmx2m\n");
    Files.writeString(build.resolve("version"), VERSION + "\n");
    Files.writeString(build.resolve("lib/b.jar"), "b");
    Files.writeString(build.resolve("lib/a.jar"), "a");
    Files.writeString(build.resolve("lib/notes.txt"), "no jar");
    return build;
  }

  private TestShell release(Path build) {
    TestShell shell = TestShell.piped();
    assertThat(
            shell.run(
                "release",
                "--key",
                folder.resolve("release.key").toString(),
                "--out",
                folder.toString(),
                "--from",
                build.toString()))
        .as(shell.err())
        .isZero();
    return shell;
  }

  private void refused(String why, Path key, String... more) {
    TestShell shell = TestShell.piped();
    List<String> words = new ArrayList<>(List.of("release", "--key", key.toString()));
    words.addAll(List.of("--out", folder.toString()));
    words.addAll(List.of(more));
    assertThat(shell.run(words.toArray(String[]::new))).isEqualTo(1);
    assertThat(shell.err()).contains(why).hasLineCount(1);
  }
}
