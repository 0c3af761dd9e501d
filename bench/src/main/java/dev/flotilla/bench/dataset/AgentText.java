package dev.flotilla.bench.dataset;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * What the agents' conversations are made of: worlds with their rules, tools and tasks, and lines
 * of what tools give, all with words left open ({@code {person}}), as {@code agent.json} has them.
 * Immutable.
 */
final class AgentText {
  private static final String FILE = "agent.json";

  /** Kinds of answers that are one line, however much room there is. */
  private static final Set<String> BRIEF = Set.of("done", "note");

  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private final Templates templates;
  private final Map<String, String> kinds = new HashMap<>();
  private final Map<String, List<String>> lines = new HashMap<>();
  private final Map<String, World> worlds = new HashMap<>();

  /**
   * A kind of work.
   *
   * @param filler lines of what an agent of that kind is told of its surroundings
   */
  record World(
      String name,
      String role,
      String filler,
      List<String> rules,
      List<Tool> tools,
      List<String> tasks,
      List<String> followups,
      List<String> answers) {}

  /**
   * A function that an agent may call.
   *
   * @param gives the kind of lines that it answers with
   * @param takes its parameters, each with the kind of words that it takes
   */
  record Tool(String name, String does, String gives, Map<String, String> takes) {}

  AgentText() {
    JsonNode file = Resources.json(FILE);
    templates = new Templates(file.path("words"));
    file.path("parameters")
        .properties()
        .forEach(kind -> kinds.put(kind.getKey(), kind.getValue().asString()));
    file.path("lines")
        .properties()
        .forEach(kind -> lines.put(kind.getKey(), Templates.strings(kind.getValue())));
    for (JsonNode world : file.path("worlds")) {
      worlds.put(world.path("name").asString(), world(world));
    }
  }

  World world(String name) {
    World world = worlds.get(name);
    if (world == null) {
      throw new IllegalArgumentException("no world is called " + name);
    }
    return world;
  }

  Templates templates() {
    return templates;
  }

  /**
   * What a tool answers, of about so many characters: at least one line, and no more where it only
   * confirms.
   */
  String result(Tool tool, int chars, SplittableRandom random) {
    return filled(tool.gives(), BRIEF.contains(tool.gives()) ? 0 : chars, random);
  }

  /** The arguments of a call, a JSON object. */
  String arguments(Tool tool, SplittableRandom random) {
    ObjectNode arguments = MAPPER.createObjectNode();
    tool.takes().forEach((name, kind) -> arguments.put(name, templates.word(kind, random)));
    return arguments.toString();
  }

  /**
   * What an agent is told first: for whom it works, its rules, its tools, and its surroundings up
   * to about so many characters.
   *
   * @param tools those of the world that it has
   */
  String system(World world, List<Tool> tools, String company, int chars, SplittableRandom random) {
    StringBuilder text = new StringBuilder(chars + 512);
    text.append("You work for ").append(company).append(". ").append(world.role());
    text.append("\n\n# Rules\n");
    int rules =
        Math.max(1, (int) ((long) world.rules().size() * tools.size() / world.tools().size()));
    world.rules().stream()
        .limit(rules)
        .forEach(rule -> text.append("- ").append(rule).append('\n'));
    text.append("\n# Tools\nCall one of these functions when you need it:\n<tools>\n");
    tools.forEach(tool -> text.append(specification(tool)).append('\n'));
    text.append("</tools>\n");
    if (text.length() + 200 < chars) {
      text.append("\n# What is known\n");
      text.append(filled(world.filler(), chars - text.length(), random));
    }
    return text.toString();
  }

  private String specification(Tool tool) {
    ObjectNode function =
        MAPPER.createObjectNode().put("name", tool.name()).put("description", tool.does());
    ObjectNode parameters = function.putObject("parameters").put("type", "object");
    ObjectNode properties = parameters.putObject("properties");
    tool.takes()
        .forEach((name, kind) ->
            properties
                .putObject(name)
                .put("type", "string")
                .put(
                    "description", "The " + name.replace('_', ' ') + ": " + kinds.get(kind) + "."));
    var required = parameters.putArray("required");
    tool.takes().keySet().stream().limit(1).forEach(required::add);
    ObjectNode whole = MAPPER.createObjectNode().put("type", "function");
    whole.set("function", function);
    return whole.toString();
  }

  private String filled(String kind, int chars, SplittableRandom random) {
    List<String> ofKind = lines.getOrDefault(kind, List.of());
    StringBuilder text = new StringBuilder(chars + 256);
    do {
      text.append(text.isEmpty() ? "" : "\n").append(templates.pick(ofKind, random));
    } while (text.length() < chars);
    return text.toString();
  }

  private static World world(JsonNode node) {
    List<Tool> tools = new ArrayList<>();
    for (JsonNode tool : node.path("tools")) {
      Map<String, String> takes = new LinkedHashMap<>();
      tool.path("takes")
          .properties()
          .forEach(each -> takes.put(each.getKey(), each.getValue().asString()));
      tools.add(
          new Tool(
              tool.path("name").asString(),
              tool.path("does").asString(),
              tool.path("gives").asString(),
              takes));
    }
    return new World(
        node.path("name").asString(),
        node.path("role").asString(),
        node.path("filler").asString(),
        Templates.strings(node.path("rules")),
        List.copyOf(tools),
        Templates.strings(node.path("tasks")),
        Templates.strings(node.path("followups")),
        Templates.strings(node.path("answers")));
  }
}
