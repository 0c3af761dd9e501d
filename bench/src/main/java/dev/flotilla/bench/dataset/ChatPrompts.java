package dev.flotilla.bench.dataset;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;

/**
 * Questions of many kinds, one user message each: explanations, code, stories, sums, and work on a
 * passage that comes with them. Half of the answers may have 64 tokens, half 256, in turn.
 */
final class ChatPrompts {
  private static final int PROMPTS = 100;
  private static final int[] OUTPUT_TOKENS = {64, 256};
  private static final int REDRAWS_MAX = 32;
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private final Templates templates;
  private final List<String> tasks;
  private final List<String> passageTasks;
  private final List<String> passage;

  private ChatPrompts() {
    JsonNode file = Resources.json("chat.json");
    templates = new Templates(file.path("words"));
    tasks = Templates.strings(file.path("tasks"));
    passageTasks = Templates.strings(file.path("passage_tasks"));
    passage = Templates.strings(file.path("passage"));
  }

  static Dataset make(DatasetOptions options) {
    ChatPrompts chat = new ChatPrompts();
    int count = options.count() == 0 ? PROMPTS : options.count();
    Set<String> seen = new HashSet<>();
    List<Prompt> prompts = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      SplittableRandom random = Seeds.generator(options.seed(), i);
      String question = chat.question(random);
      for (int again = 0; again < REDRAWS_MAX && !seen.add(question); again++) {
        question = chat.question(random);
      }
      ArrayNode messages = MAPPER.createArrayNode();
      messages.addObject().put("role", "user").put("content", question);
      prompts.add(
          new Prompt(
              "chat-" + i,
              new Prompt.Input.Messages(messages.toString(), Optional.empty()),
              -1,
              options.lengths().outputOr(OUTPUT_TOKENS[i % OUTPUT_TOKENS.length]),
              false,
              Optional.empty()));
    }
    int output = options.lengths().output();
    String out = output == 0 ? "64 or 256" : Integer.toString(output);
    return new Dataset("chat " + out + " out", prompts, List.of());
  }

  /** One in three comes with a passage of one to six paragraphs. */
  private String question(SplittableRandom random) {
    if (random.nextInt(3) != 0) {
      return templates.pick(tasks, random);
    }
    StringBuilder question = new StringBuilder(templates.pick(passageTasks, random));
    int paragraphs = random.nextInt(1, 7);
    for (int i = 0; i < paragraphs; i++) {
      int sentences = random.nextInt(4, 9);
      for (int j = 0; j < sentences; j++) {
        question.append(j == 0 ? "" : " ").append(templates.pick(passage, random));
      }
      question.append(i == paragraphs - 1 ? "" : "\n\n");
    }
    return question.toString();
  }
}
