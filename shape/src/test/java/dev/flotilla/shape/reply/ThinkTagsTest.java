package dev.flotilla.shape.reply;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Thoughts between tags, as models write them and as nobody should. */
class ThinkTagsTest {
  @Test
  void aThoughtAndAnAnswer() {
    assertThat(through("<think>\nFrance, so Paris.\n</think>\n\nParis."))
        .containsExactly("thought:France, so Paris.", "text:Paris.", "stop");
  }

  @Test
  void tagsThatComeCharacterByCharacter() {
    assertThat(characters("<think>\nFrance, so Paris.\n</think>\n\nParis."))
        .containsExactly("thought:France, so Paris.", "text:Paris.", "stop");
  }

  @Test
  void whatOnlyLooksLikeATagIsText() {
    String text = "a <thin line, 1 <2, <<think, <think and </think> go <";
    assertThat(through(text)).containsExactly("text:" + text, "stop");
    assertThat(characters(text)).containsExactly("text:" + text, "stop");
  }

  @Test
  void aThoughtThatNeverClosesIsAThoughtToItsEnd() {
    assertThat(characters("<think>Hm, </thi")).containsExactly("thought:Hm, </thi", "stop");
    assertThat(through("<think>")).containsExactly("stop");
  }

  @Test
  void severalThoughtsAreOneReasoning() {
    assertThat(characters("<think>a</think><think>b</think>c<think>d</think> e"))
        .containsExactly("thought:a\nb", "text:c", "thought:\nd", "text:e", "stop");
  }

  @Test
  void anEmptyThoughtIsNone() {
    assertThat(characters("<think>\n\n</think>\n\nParis.")).containsExactly("text:Paris.", "stop");
  }

  @Test
  void tagsInCodeAreText() {
    for (String code :
        List.of(
            "Write `<think>` and `</think>` like this.",
            "```xml\n<think>\nhm\n</think>\n```\nThat is it.",
            "~~~\n<think>a</think>\n~~~",
            "Look:\n   ````\n```\n<think>a</think>\n````\nSo.",
            "``a ` <think>b</think> ``")) {
      assertThat(through(code)).as(code).containsExactly("text:" + code, "stop");
      assertThat(characters(code)).as(code).containsExactly("text:" + code, "stop");
    }
  }

  @Test
  void behindCodeThoughtsAreThoughts() {
    assertThat(characters("```\n<think>\n```\n<think>a</think>b"))
        .containsExactly("text:```\n<think>\n```\n", "thought:a", "text:b", "stop");
    assertThat(characters("it`s\n\n<think>a</think>b"))
        .as("a paragraph ends what was left open")
        .containsExactly("text:it`s\n\n", "thought:a", "text:b", "stop");
  }

  @Test
  void spaceBeforeAnAnswerWithoutThoughtsStays() {
    assertThat(characters("\n Paris. \n")).containsExactly("text:\n Paris. \n", "stop");
    assertThat(characters(" \n")).containsExactly("text: \n", "stop");
  }

  private static List<String> through(String text) {
    return Stages.through(new ThinkTags(), Stages.whole(text, "stop"));
  }

  private static List<String> characters(String text) {
    return Stages.through(new ThinkTags(), Stages.characters(text, "stop"));
  }
}
