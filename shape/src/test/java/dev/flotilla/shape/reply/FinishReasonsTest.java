package dev.flotilla.shape.reply;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FinishReasonsTest {
  @ParameterizedTest
  @CsvSource({
    "stop,stop",
    "length,length",
    "tool_calls,tool_calls",
    "content_filter,content_filter",
    "eos_token,stop",
    "end_turn,stop",
    "max_tokens,length",
    "tool_call,tool_calls",
    "repetition,repetition",
  })
  void eachReasonHasOneWord(String said, String word) {
    assertThat(Stages.through(new FinishReasons(), List.of(new Piece.Finish(said))))
        .containsExactly(word);
  }

  @Test
  void vllmSaysStopBehindACallThatTheClientNamed() {
    List<Piece> pieces = List.of(new Piece.ToolCall(0, "a", "f", ""), new Piece.Finish("stop"));
    assertThat(Stages.through(new FinishReasons(), pieces)).containsExactly("f()", "tool_calls");
  }

  @Test
  void aCallThatTheLimitCutStaysCut() {
    List<Piece> pieces = List.of(new Piece.ToolCall(0, "a", "f", "{"), new Piece.Finish("length"));
    assertThat(Stages.through(new FinishReasons(), pieces)).endsWith("length");
  }
}
