package dev.flotilla.shape.reply;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.wire.text.Json;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.node.ObjectNode;

class VocabularyTextTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "Ġglad | \" glad\" | [32,103,108,97,100]",
        "Ċ | \"\n\" | [10]",
        "Ã© | é | [195,169]",
        "▁glad | \" glad\" | [32,103,108,97,100]",
        "<0x0A> | \"\n\" | [10]",
        "</s> | </s> | [60,47,115,62]",
      })
  void tokensAreTexts(String token, String text, String bytes) {
    ObjectNode entry = Json.MAPPER.createObjectNode();
    VocabularyText.put(entry, token.strip());
    assertThat(entry.path("token").asString()).isEqualTo(text);
    assertThat(entry.path("bytes").toString()).isEqualTo(bytes);
  }
}
