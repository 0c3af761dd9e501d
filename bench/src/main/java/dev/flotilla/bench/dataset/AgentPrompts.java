package dev.flotilla.bench.dataset;

import dev.flotilla.bench.dataset.AgentText.Tool;
import dev.flotilla.bench.dataset.AgentText.World;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.SplittableRandom;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Conversations of agents with their tools, in the shape of SiliconBench's agent split, which may
 * not be handed on itself. For each hundred: the counts of messages by role, how they end, 34
 * different first messages, the mean and the longest size, and about half of the characters a
 * beginning that an earlier prompt has too. The texts are our own.
 *
 * <p>Three families, as the split has three sources. In the first, sessions go on without an answer
 * and every prompt ends with a user's message; several share what came before it. In the second,
 * sessions have answers in them and prompts end with what a tool gave; the longer ones continue
 * shorter ones. In the third each conversation is of its own.
 */
final class AgentPrompts {
  /** Prompts of one set; more are further sets, drawn anew. */
  static final int SET = 100;

  private static final int OUTPUT_TOKENS = 256;
  private static final JsonMapper MAPPER = JsonMapper.builder().build();
  private static final String CALL_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789";

  /** Templates of some models take ids of this length and no other. */
  private static final int CALL_ID_LENGTH = 9;

  private static final int FIRST_SYSTEM_CHARS = 8_200;
  private static final int SECOND_SYSTEM_CHARS = 6_000;
  private static final int THIRD_SYSTEM_CHARS = 2_000;
  private static final int FIRST_RESULT_CHARS = 3_050;
  private static final int SECOND_RESULT_CHARS = 2_700;
  private static final int THIRD_RESULT_CHARS = 1_300;

  private final AgentText text = new AgentText();
  private final double scale;
  private final SplittableRandom random;
  private final List<Conversation> made = new ArrayList<>(SET);

  /**
   * @param scale how much of their full size system messages and tool results have, up to 1
   */
  private AgentPrompts(long seed, int set, double scale) {
    this.random = Seeds.generator(seed, set);
    this.scale = scale;
  }

  /**
   * One conversation.
   *
   * @param about what kind of work it is, and how it ends
   */
  record Conversation(String about, ArrayNode messages) {

    /** Characters that a template would render, roles and calls among them. */
    int chars() {
      return rendered().length();
    }

    /** Its messages as plain text, for sizes and for counting. */
    String rendered() {
      StringBuilder rendered = new StringBuilder();
      messages.forEach(message -> {
        rendered.append(message.path("role").asString()).append('\n');
        if (message.path("content").isString()) {
          rendered.append(message.path("content").asString());
        }
        message
            .path("tool_calls")
            .forEach(call -> rendered.append(call.path("function").toString()).append('\n'));
        rendered.append('\n');
      });
      return rendered.toString();
    }
  }

  /** So many conversations; the first hundred are the same however many more there are. */
  static List<Conversation> conversations(int count, long seed, double scale) {
    List<Conversation> all = new ArrayList<>();
    for (int set = 0; all.size() < count; set++) {
      all.addAll(new AgentPrompts(seed, set, scale).set());
    }
    return all.subList(0, count);
  }

  /**
   * The dataset.
   *
   * @param tokenizer where counting costs next to nothing
   */
  static Dataset make(DatasetOptions options, Optional<Tokenizer> tokenizer) throws DatasetRefused {
    int count = options.count() == 0 ? SET : options.count();
    int output = options.lengths().outputOr(OUTPUT_TOKENS);
    AgentSize.Fitted fitted =
        new AgentSize(tokenizer).fit(count, options.seed(), options.maxContext(), output);
    List<Prompt> prompts = new ArrayList<>(count);
    for (Conversation conversation : fitted.conversations()) {
      prompts.add(
          new Prompt(
              "agent-" + prompts.size(),
              new Prompt.Input.Messages(conversation.messages().toString(), Optional.empty()),
              -1,
              output,
              false,
              Optional.empty()));
    }
    if (fitted.scale() == 1) {
      return new Dataset("agent", prompts, List.of());
    }
    return new Dataset(
        "agent scaled to a context of " + options.maxContext(),
        prompts,
        List.of(
            "Conversations are shrunk to fit a context of %,d tokens: tool results have %.0f %% of their size."
                .formatted(options.maxContext(), 100 * fitted.scale())));
  }

  private List<Conversation> set() {
    List<String> companies = new ArrayList<>(text.templates().words("company"));
    Collections.shuffle(companies, new Random(random.nextLong()));
    firstFamily(companies);
    secondFamily(companies);
    for (int i = 0; i < 30; i++) {
      thirdFamily(i, companies.removeLast());
    }
    Collections.shuffle(made, new Random(random.nextLong()));
    return made;
  }

  /**
   * 35 conversations: 6 sessions cut twice, 7 tasks with three endings each, and 2 mere questions.
   */
  private void firstFamily(List<String> companies) {
    List<Agent> agents =
        List.of(
            agent("code-review", companies.removeLast(), FIRST_SYSTEM_CHARS),
            agent("operations", companies.removeLast(), FIRST_SYSTEM_CHARS));
    for (int i = 0; i < 6; i++) {
      Session session = new Session(agents.get(i % 2), FIRST_RESULT_CHARS, spread(i, 6));
      session.task().steps(4, 4).followup();
      session.cut("a second wish");
      session.steps(3, 5).followup();
      session.cut("a third wish");
    }
    for (int i = 0; i < 7; i++) {
      Session session = new Session(agents.get(i % 2), FIRST_RESULT_CHARS, spread(i, 7));
      session.task();
      if (i < 4) {
        session.steps(5, 7);
      } else {
        session.steps(6, 8);
      }
      List<String> wishes = agents.get(i % 2).world().followups();
      for (int ending = 0; ending < 3; ending++) {
        Session other = session.copy();
        other.say("user", text.templates().expanded(wishes.get(ending % wishes.size()), random));
        other.cut("one of three wishes");
      }
    }
    for (Agent agent : agents) {
      new Session(agent, FIRST_RESULT_CHARS, 1).task().cut("a question");
    }
  }

  /** 35 conversations: 10 sessions cut twice, 11 long ones and 4 short ones. */
  private void secondFamily(List<String> companies) {
    List<Agent> agents =
        List.of(
            agent("calendar", companies.removeLast(), SECOND_SYSTEM_CHARS),
            agent("research", companies.removeLast(), SECOND_SYSTEM_CHARS));
    for (int i = 0; i < 25; i++) {
      Session session = new Session(agents.get(i % 2), SECOND_RESULT_CHARS, spread(i, 25));
      boolean cutTwice = i < 10;
      boolean isShort = i >= 21;
      session.task().steps(2, 2).answer().followup().steps(cutTwice || isShort ? 1 : 2, 2);
      if (cutTwice || isShort) {
        session.cut("tools called after an answer");
      }
      if (!isShort) {
        session.answer().followup().steps(2, 2);
        session.cut("tools called after two answers");
      }
    }
  }

  /** One conversation with a first message of its own. */
  private void thirdFamily(int number, String company) {
    Agent agent = agent(number % 2 == 0 ? "files" : "support", company, THIRD_SYSTEM_CHARS);
    int calls = 1 + List.of(0, 1, 2, 3, 4, 2).get(number % 6);
    Session session = new Session(agent, THIRD_RESULT_CHARS, spread(number, 30));
    session.task().steps(calls, number % 10 == 4 ? calls + 1 : calls);
    if (number == 7) {
      session.answer().cut("an answer");
    } else {
      session.cut("tools called");
    }
  }

  /**
   * How much longer or shorter than others the results of one of so many sessions are: spread
   * evenly, so that no seed's conversations are longer than another's.
   */
  private static double spread(int session, int sessions) {
    return 0.75 + 0.5 * (session * 11 % sessions + 0.5) / sessions;
  }

  /** Who talks: a world, the tools of it that are at hand, and the first message. */
  private record Agent(World world, List<Tool> tools, String system) {}

  private Agent agent(String name, String company, int chars) {
    World world = text.world(name);
    int tools = Math.clamp(Math.round(2 * scale * world.tools().size()), 2, world.tools().size());
    List<Tool> atHand = world.tools().subList(0, tools);
    return new Agent(
        world, atHand, text.system(world, atHand, company, (int) (chars * scale), random));
  }

  /** A conversation while it grows. */
  private final class Session {
    private final Agent agent;
    private final double resultChars;
    private final ArrayNode messages;

    /** Tools that the session has not used since it had used all of them. */
    private final List<Tool> unused = new ArrayList<>();

    Session(Agent agent, int resultChars, double spread) {
      this(agent, resultChars * spread, MAPPER.createArrayNode());
      say("system", agent.system());
    }

    private Session(Agent agent, double resultChars, ArrayNode messages) {
      this.agent = agent;
      this.resultChars = resultChars;
      this.messages = messages;
    }

    Session copy() {
      return new Session(agent, resultChars, messages.deepCopy());
    }

    Session task() {
      return say("user", text.templates().pick(agent.world().tasks(), random));
    }

    Session followup() {
      return say("user", text.templates().pick(agent.world().followups(), random));
    }

    Session answer() {
      return say("assistant", text.templates().pick(agent.world().answers(), random));
    }

    /** So many messages that call tools; the first of them call two, until the results suffice. */
    Session steps(int calls, int results) {
      for (int i = 0; i < calls; i++) {
        step(i < results - calls ? 2 : 1);
      }
      return this;
    }

    private void step(int calls) {
      ObjectNode assistant = messages.addObject().put("role", "assistant").putNull("content");
      ArrayNode list = assistant.putArray("tool_calls");
      for (int i = 0; i < calls; i++) {
        Tool tool = nextTool();
        String id = callId();
        list.addObject()
            .put("id", id)
            .put("type", "function")
            .putObject("function")
            .put("name", tool.name())
            .put("arguments", text.arguments(tool, random));
        int chars = (int) (scale * resultChars * random.nextDouble(0.3, 1.7));
        messages
            .addObject()
            .put("role", "tool")
            .put("tool_call_id", id)
            .put("name", tool.name())
            .put("content", text.result(tool, chars, random));
      }
    }

    private Tool nextTool() {
      if (unused.isEmpty()) {
        unused.addAll(agent.tools());
      }
      return unused.remove(random.nextInt(unused.size()));
    }

    private Session say(String role, String content) {
      messages.addObject().put("role", role).put("content", content);
      return this;
    }

    void cut(String how) {
      made.add(new Conversation(agent.world().name() + ": " + how, messages.deepCopy()));
    }

    private String callId() {
      StringBuilder id = new StringBuilder(CALL_ID_LENGTH);
      for (int i = 0; i < CALL_ID_LENGTH; i++) {
        id.append(CALL_LETTERS.charAt(random.nextInt(CALL_LETTERS.length())));
      }
      return id.toString();
    }
  }
}
