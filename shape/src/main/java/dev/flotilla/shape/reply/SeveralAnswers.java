package dev.flotilla.shape.reply;

import dev.flotilla.shape.request.Asked;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Answers that came one by one, in one reply: its head is the first one's. */
public final class SeveralAnswers {
  private SeveralAnswers() {}

  /** The whole reply. */
  public static ObjectNode join(Asked asked, List<ObjectNode> wholes) {
    ObjectNode first = wholes.getFirst();
    if (wholes.size() == 1) {
      return first;
    }
    ObjectNode all = first.deepCopy();
    for (ObjectNode more : wholes.subList(1, wholes.size())) {
      if (all.get("choices") instanceof ArrayNode choices
          && more.get("choices") instanceof ArrayNode others) {
        choices.addAll(others);
      }
      ObjectNode cost =
          cost(
              asked,
              all.get("usage") instanceof ObjectNode usage ? usage : null,
              more.get("usage") instanceof ObjectNode usage ? usage : null);
      if (cost != null) {
        all.set("usage", cost);
      }
    }
    return all;
  }

  /** What they cost together; a prompt that all of them answer counts once. */
  public static @Nullable ObjectNode cost(
      Asked asked, @Nullable ObjectNode until, @Nullable ObjectNode more) {
    if (until == null || more == null) {
      return until == null ? more : until;
    }
    return UsageForm.sum(until, more, asked.prompts() == 0);
  }
}
