package dev.flotilla.shape.reply;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tool calls as engines number and name them. */
class ToolCallFormTest {
  @Test
  void aCallAtOnceBecomesItsBeginningAndItsArguments() {
    assertThat(through(call(0, "a", "f", "{}")))
        .containsExactly(call(0, "a", "f", ""), call(0, "", "", "{}"));
  }

  @Test
  void callsWithoutIndexesAreCounted() {
    assertThat(through(call(-1, "a", "f", "{}"), call(-1, "b", "g", "[]")))
        .containsExactly(
            call(0, "a", "f", ""),
            call(0, "", "", "{}"),
            call(1, "b", "g", ""),
            call(1, "", "", "[]"));
  }

  @Test
  void callsThatAllHaveIndexZeroAreToldApartByTheirIds() {
    assertThat(through(call(0, "a", "f", "{}"), call(0, "b", "f", "{}")))
        .extracting(Piece.ToolCall::index)
        .containsExactly(0, 0, 1, 1);
  }

  @Test
  void anIdThatComesWithEachPieceIsSaidOnce() {
    assertThat(through(call(0, "a", "f", ""), call(0, "a", "", "{"), call(0, "a", "f", "}")))
        .containsExactly(call(0, "a", "f", ""), call(0, "", "", "{"), call(0, "", "", "}"));
  }

  @Test
  void aCallWithoutAnIdIsGivenOne() {
    assertThat(through(call(-1, "", "f", "{}"), call(-1, "", "f", "{}")))
        .extracting(Piece.ToolCall::id)
        .containsExactly("id1", "", "id2", "");
  }

  @Test
  void indexesThatBeginElsewhereBeginAtZero() {
    assertThat(through(call(3, "a", "f", ""), call(3, "", "", "{}"), call(7, "b", "g", "")))
        .extracting(Piece.ToolCall::index)
        .containsExactly(0, 0, 1);
  }

  private static Piece.ToolCall call(int index, String id, String name, String arguments) {
    return new Piece.ToolCall(index, id, name, arguments);
  }

  private static List<Piece.ToolCall> through(Piece.ToolCall... calls) {
    AtomicInteger ids = new AtomicInteger();
    ToolCallForm form = new ToolCallForm(() -> "id" + ids.incrementAndGet());
    List<Piece.ToolCall> out = new ArrayList<>();
    for (Piece.ToolCall call : calls) {
      form.take(call, piece -> out.add((Piece.ToolCall) piece));
    }
    return out;
  }
}
