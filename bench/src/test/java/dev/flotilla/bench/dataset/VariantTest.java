package dev.flotilla.bench.dataset;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.bench.dataset.Prompt.Input;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The same prompts, made unknown to caches. */
final class VariantTest {
  @Test
  void aTextBeginsAnew() {
    List<Prompt> prompts = List.of(prompt(new Input.Text("Say hi")));
    assertThat(text(Variant.of(prompts, 0))).isEqualTo("a a a a. Say hi");
    assertThat(text(Variant.of(prompts, 12))).isEqualTo("c b a a. Say hi");
  }

  @Test
  void aConversationBeginsAnewAtItsFirstTextAndKeepsTheRest() {
    String talk =
        """
        [{"role":"assistant","content":null,"tool_calls":[]},{"role":"user","content":"Hi"},\
        {"role":"user","content":"Ho"}]\
        """;
    List<Prompt> variant =
        Variant.of(List.of(prompt(new Input.Messages(talk, Optional.of("[]")))), 3);
    assertThat(variant.getFirst().input())
        .isEqualTo(
            new Input.Messages(talk.replace("\"Hi\"", "\"d a a a. Hi\""), Optional.of("[]")));
  }

  @Test
  void partsOfAMessageAreTextsToo() {
    String talk = "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}]}]";
    assertThat(Variant.of(List.of(prompt(new Input.Messages(talk, Optional.empty()))), 0))
        .extracting(each -> ((Input.Messages) each.input()).messages())
        .containsExactly(talk.replace("\"Hi\"", "\"a a a a. Hi\""));
  }

  private static String text(List<Prompt> prompts) {
    return ((Input.Text) prompts.getFirst().input()).text();
  }

  private static Prompt prompt(Input input) {
    return new Prompt("one", input, 2, 8, true, Optional.empty());
  }
}
