package dev.flotilla.agent.policy;

import dev.flotilla.agent.policy.Policy.EngineRule;
import dev.flotilla.wire.release.ReleaseKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/** Reads {@code policy.yaml}. Reads nodes and not values, so that every refusal has its line. */
final class PolicyFile {
  private static final int FILE_BYTES_MAX = 256 * 1024;
  private static final int LIST_MAX = 1000;

  private final Path file;

  private PolicyFile(Path file) {
    this.file = file;
  }

  static Policy read(Policy defaults) throws PolicyRefused {
    Path file = defaults.file();
    String text;
    try {
      if (Files.size(file) > FILE_BYTES_MAX) {
        throw new PolicyRefused(file + " has more than " + FILE_BYTES_MAX + " bytes.");
      }
      text = Files.readString(file);
    } catch (NoSuchFileException e) {
      return defaults;
    } catch (IOException e) {
      throw new PolicyRefused(file + " can't be read: " + e.getMessage());
    }
    return new PolicyFile(file).parse(text, defaults);
  }

  private Policy parse(String text, Policy defaults) throws PolicyRefused {
    LoadSettings settings =
        LoadSettings.builder().setLabel(file.toString()).setUseMarks(true).build();
    Optional<Node> root;
    try {
      root = new Compose(settings).composeString(text);
    } catch (MarkedYamlEngineException e) {
      int line = e.getProblemMark().map(mark -> mark.getLine() + 1).orElse(1);
      throw new PolicyRefused("%s, line %d: %s".formatted(file, line, e.getProblem()));
    } catch (YamlEngineException e) {
      throw new PolicyRefused("%s: %s".formatted(file, e.getMessage()));
    }
    return root.isEmpty() ? defaults : policy(root.get(), defaults);
  }

  private Policy policy(Node root, Policy defaults) throws PolicyRefused {
    Map<String, Node> keys =
        keys(
            root,
            "the policy",
            List.of("engines", "sources", "folders", "flags", "memory-fraction", "update"));
    Map<String, EngineRule> engines = defaults.engines();
    Set<String> sources = defaults.sources();
    Optional<List<Path>> folders = defaults.folders();
    Set<String> allowed = Set.of();
    Set<String> forbidden = defaults.forbiddenFlags();
    double fraction = defaults.memoryFraction();
    List<ReleaseKey> updateKeys = defaults.updateKeys();
    for (Map.Entry<String, Node> key : keys.entrySet()) {
      Node value = key.getValue();
      switch (key.getKey()) {
        case "engines" -> engines = engines(value, defaults);
        case "sources" -> sources = words(value, "a source", Policy.SOURCES);
        case "folders" -> folders = Optional.of(folders(value));
        case "memory-fraction" -> fraction = fraction(value);
        case "update" -> updateKeys = updateKeys(value);
        default -> {
          Map<String, Node> flags = keys(value, "flags", List.of("forbidden", "allowed"));
          for (Map.Entry<String, Node> flag : flags.entrySet()) {
            if (flag.getKey().equals("allowed")) {
              allowed = flags(flag.getValue());
            } else {
              Set<String> more = new HashSet<>(forbidden);
              more.addAll(flags(flag.getValue()));
              forbidden = more;
            }
          }
        }
      }
    }
    return new Policy(file, engines, sources, folders, allowed, forbidden, fraction, updateKeys);
  }

  private List<ReleaseKey> updateKeys(Node node) throws PolicyRefused {
    List<ReleaseKey> keys = new ArrayList<>();
    Node list = keys(node, "update", List.of("keys")).get("keys");
    if (list == null) {
      return keys;
    }
    for (Node item : items(list)) {
      keys.add(
          ReleaseKey.parse(text(item))
              .orElseThrow(() ->
                  refused(
                      item,
                      "'"
                          + shown(((ScalarNode) item).getValue())
                          + "' is no key for updates; 'flotilla release keygen' prints one, which"
                          + " begins with ed25519:")));
    }
    return keys;
  }

  private Map<String, EngineRule> engines(Node node, Policy defaults) throws PolicyRefused {
    Map<String, EngineRule> engines = new LinkedHashMap<>();
    for (Map.Entry<String, Node> engine : keys(node, "engines", Policy.ENGINES).entrySet()) {
      EngineRule rule =
          defaults.engine(engine.getKey()).orElse(new EngineRule(Optional.empty(), false));
      Optional<Path> path = rule.path();
      boolean install = rule.install();
      if (!empty(engine.getValue())) {
        Map<String, Node> keys =
            keys(engine.getValue(), engine.getKey(), List.of("path", "install"));
        for (Map.Entry<String, Node> key : keys.entrySet()) {
          if (key.getKey().equals("path")) {
            path = Optional.of(absolute(key.getValue()));
          } else {
            install = truth(key.getValue());
          }
        }
      }
      engines.put(engine.getKey(), new EngineRule(path, install));
    }
    return engines;
  }

  private List<Path> folders(Node node) throws PolicyRefused {
    List<Path> folders = new ArrayList<>();
    for (Node item : items(node)) {
      folders.add(absolute(item));
    }
    return folders;
  }

  private Path absolute(Node node) throws PolicyRefused {
    String text = text(node);
    String home = System.getProperty("user.home", "");
    Path path = text.startsWith("~/") ? Path.of(home).resolve(text.substring(2)) : Path.of(text);
    if (!path.isAbsolute()) {
      throw refused(
          node, "'%s' is not a whole path; write it from the root or from ~/".formatted(text));
    }
    return path.normalize();
  }

  private Set<String> flags(Node node) throws PolicyRefused {
    Set<String> flags = new HashSet<>();
    for (Node item : items(node)) {
      String flag = text(item);
      if (flag.isEmpty() || flag.startsWith("-")) {
        throw refused(item, "'%s' is an option's name without its dashes".formatted(flag));
      }
      flags.add(flag);
    }
    return flags;
  }

  private Set<String> words(Node node, String what, List<String> known) throws PolicyRefused {
    Set<String> words = new HashSet<>();
    for (Node item : items(node)) {
      String word = text(item);
      if (!known.contains(word)) {
        throw unknown(item, word, what, known);
      }
      words.add(word);
    }
    return words;
  }

  private double fraction(Node node) throws PolicyRefused {
    try {
      double fraction = Double.parseDouble(text(node));
      if (fraction >= 0.05 && fraction <= 1) {
        return fraction;
      }
    } catch (NumberFormatException e) {
      // said below, as for a number that is out of range
    }
    throw refused(node, "memory-fraction is a number from 0.05 to 1, not " + text(node));
  }

  private boolean truth(Node node) throws PolicyRefused {
    return switch (text(node)) {
      case "true" -> true;
      case "false" -> false;
      default -> throw refused(node, "install is true or false, not " + text(node));
    };
  }

  private Map<String, Node> keys(Node node, String what, List<String> known) throws PolicyRefused {
    if (!(node instanceof MappingNode mapping)) {
      throw refused(node, what + " is a mapping with the keys " + String.join(", ", known));
    }
    Map<String, Node> keys = new LinkedHashMap<>();
    for (NodeTuple tuple : mapping.getValue()) {
      String key = text(tuple.getKeyNode());
      if (!known.contains(key)) {
        throw unknown(tuple.getKeyNode(), key, "a key of " + what, known);
      }
      if (keys.put(key, tuple.getValueNode()) != null) {
        throw refused(tuple.getKeyNode(), "the key " + key + " is there twice");
      }
    }
    return keys;
  }

  private List<Node> items(Node node) throws PolicyRefused {
    if (!(node instanceof SequenceNode sequence)) {
      throw refused(node, "a list is expected, such as [a, b]");
    }
    if (sequence.getValue().size() > LIST_MAX) {
      throw refused(node, "a list of more than " + LIST_MAX);
    }
    return sequence.getValue();
  }

  private String text(Node node) throws PolicyRefused {
    if (!(node instanceof ScalarNode scalar)) {
      throw refused(node, "one value is expected");
    }
    return scalar.getValue();
  }

  private static boolean empty(Node node) {
    return node instanceof ScalarNode scalar
        && (scalar.getValue().isEmpty() || scalar.getValue().equals("null"));
  }

  private PolicyRefused unknown(Node node, String word, String what, List<String> known) {
    String nearest =
        known.stream().min(Comparator.comparingInt(each -> distance(word, each))).orElse("");
    return refused(
        node,
        "'%s' is not %s; the nearest is '%s' (known: %s)"
            .formatted(shown(word), what, nearest, String.join(", ", known)));
  }

  private PolicyRefused refused(Node node, String problem) {
    int line = node.getStartMark().map(mark -> mark.getLine() + 1).orElse(1);
    return new PolicyRefused("%s, line %d: %s.".formatted(file, line, problem));
  }

  private static String shown(String word) {
    String clean = word.replaceAll("\\p{Cntrl}", "?");
    return clean.length() <= 60 ? clean : clean.substring(0, 57) + "...";
  }

  /** Letters to add, drop or change (Levenshtein), on the first 60. */
  private static int distance(String a, String b) {
    String from = shown(a);
    int[] row = new int[b.length() + 1];
    for (int j = 0; j < row.length; j++) {
      row[j] = j;
    }
    for (int i = 1; i <= from.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j < row.length; j++) {
        int change = diagonal + (from.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(change, Math.min(row[j], row[j - 1]) + 1);
      }
    }
    return row[b.length()];
  }
}
