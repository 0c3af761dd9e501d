package dev.flotilla.agent.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ModelFingerprintTest {
  @TempDir Path folder;

  private Path file(String name, String content) throws Exception {
    Path file = Files.writeString(folder.resolve(name), content);
    return Files.setLastModifiedTime(file, FileTime.fromMillis(1_767_225_600_000L));
  }

  @Test
  void theSameBytesAreTheSameModelWhateverItsName() throws Exception {
    assertThat(ModelFingerprint.of(file("a.gguf", "GGUF one")))
        .hasSize(32)
        .isEqualTo(ModelFingerprint.of(file("b.gguf", "GGUF one")));
  }

  @Test
  void otherBytesUnderTheSameNameAreAnotherModel() throws Exception {
    String before = ModelFingerprint.of(file("a.gguf", "GGUF one"));
    assertThat(ModelFingerprint.of(file("a.gguf", "GGUF two"))).isNotEqualTo(before);
    assertThat(ModelFingerprint.of(file("a.gguf", "GGUF one"))).isEqualTo(before);
  }

  @Test
  void aFileThatWasWrittenAnewMayBeAnotherOne() throws Exception {
    Path file = file("a.gguf", "GGUF one");
    String before = ModelFingerprint.of(file);
    Files.setLastModifiedTime(file, FileTime.fromMillis(1_767_225_601_000L));
    assertThat(ModelFingerprint.of(file)).isNotEqualTo(before);
  }

  @Test
  void ofAFolderEachFileCounts() throws Exception {
    file("config.json", "{}");
    Path weights = file("model.safetensors", "weights");
    String before = ModelFingerprint.of(folder);
    assertThat(before).hasSize(32);
    Files.delete(weights);
    assertThat(ModelFingerprint.of(folder)).isNotEqualTo(before);
  }

  @Test
  void ofWhatIsNotThereNothingIsKnown() throws Exception {
    assertThat(ModelFingerprint.of(folder.resolve("none.gguf"))).isEmpty();
    assertThat(ModelFingerprint.of(Files.createDirectory(folder.resolve("empty")))).isEmpty();
  }
}
