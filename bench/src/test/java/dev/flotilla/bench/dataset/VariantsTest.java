package dev.flotilla.bench.dataset;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.bench.dataset.Prompt.Input.Messages;
import dev.flotilla.bench.dataset.Prompt.Input.Text;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The same prompts, new to a cache. */
final class VariantsTest {
  private static final Dataset DATASET =
      new Dataset(
          "d",
          List.of(
              prompt("a", new Text("Once upon a time")),
              prompt(
                  "b", messages("[{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\"}]")),
              prompt(
                  "c",
                  messages(
                      "[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\"},{\"type\":\"text\",\"text\":\"T\"}]}]")),
              prompt("d", messages("[{\"role\":\"assistant\",\"content\":null}]"))),
          List.of("note"));

  @Test
  void oneMarkStandsBeforeWhateverIsReadFirst() {
    Dataset variant = Variants.of(DATASET, "c8-1");

    assertThat(variant.prompts().getFirst().input().toString())
        .containsPattern("text=\\[[a-z]{5}\\] Once upon a time");
    assertThat(variant.prompts().get(1).input().toString())
        .containsPattern("\"content\":\"\\[[a-z]{5}\\] S\"");
    assertThat(variant.prompts().get(2).input().toString())
        .containsPattern("\"text\":\"\\[[a-z]{5}\\] T\"");
    assertThat(variant.prompts().get(3).input().toString())
        .containsPattern("\\[\\{\"role\":\"user\",\"content\":\"\\[[a-z]{5}\\]\"},");
    assertThat(variant.prompts()).extracting(Prompt::name).containsExactly("a", "b", "c", "d");
    assertThat(variant.notes()).containsExactly("note");
  }

  @Test
  void theNameDecidesAndNamesDiffer() {
    assertThat(Variants.of(DATASET, "c8-1")).isEqualTo(Variants.of(DATASET, "c8-1"));
    List<String> begins =
        java.util.stream.IntStream.range(0, 2_000)
            .mapToObj(i -> Variants.of(DATASET, "c" + i % 40 + "-" + i / 40))
            .map(variant -> variant.prompts().getFirst().input().toString())
            .toList();
    assertThat(begins).doesNotHaveDuplicates();
  }

  private static Messages messages(String json) {
    return new Messages(json, Optional.empty());
  }

  private static Prompt prompt(String name, Prompt.Input input) {
    return new Prompt(name, input, 4, 8, true, Optional.empty());
  }
}
