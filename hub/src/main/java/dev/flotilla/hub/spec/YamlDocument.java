package dev.flotilla.hub.spec;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.events.CollectionStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.NodeEvent;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.ReaderException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlVersionException;
import org.snakeyaml.engine.v2.nodes.Node;

/**
 * The YAML under a fleet file: one document of YAML 1.2 within limits, composed to nodes that know
 * their lines.
 *
 * <p>The stream is looked at event by event first, because composing recurses: what is nested too
 * deep would end the stack. Anchors and aliases are refused there too. They are the way to make a
 * small file huge, and a problem in a part that is used twice would have no one place.
 */
final class YamlDocument {

  /** Largest file, bytes of UTF-8. */
  static final int BYTES_MAX = 1 << 20;

  /** Lists and maps within each other; the language itself needs six. */
  static final int DEPTH_MAX = 32;

  /** Values, keys, lists and maps of one file. */
  static final int NODES_MAX = 100_000;

  private YamlDocument() {}

  /** The root, or empty where there is none or where a problem was added. */
  static Optional<Node> compose(String yaml, Problems problems) {
    if (yaml.length() > BYTES_MAX || yaml.getBytes(StandardCharsets.UTF_8).length > BYTES_MAX) {
      problems.add(Optional.empty(), "", "the file is larger than 1 MiB, which is the limit");
      return Optional.empty();
    }
    int alone = loneSurrogate(yaml);
    if (alone >= 0) {
      // The library loses its place at half a character; what was UTF-8 never has one.
      unreadable(yaml, alone, yaml.charAt(alone), problems);
      return Optional.empty();
    }
    LoadSettings settings = LoadSettings.builder().setCodePointLimit(BYTES_MAX + 1).build();
    try {
      if (!withinLimits(new Parse(settings).parseString(yaml), problems)) {
        return Optional.empty();
      }
      Optional<Node> root = new Compose(settings).composeString(yaml);
      if (root.isEmpty()) {
        problems.add(
            Optional.empty(), "", "the file is empty; a fleet that serves nothing is `models: {}`");
      }
      return root;
    } catch (MarkedYamlEngineException e) {
      problems.add(e.getProblemMark().or(e::getContextMark), "", "this is not YAML: " + reason(e));
    } catch (ReaderException e) {
      unreadable(yaml, e.getPosition(), e.getCodePoint(), problems);
    } catch (YamlVersionException e) {
      problems.add(
          Optional.empty(), "", "the file asks for another version of YAML; 1.2 is read here");
    } catch (IllegalArgumentException e) {
      // What the library throws at an escape beyond the last character of Unicode.
      problems.add(
          Optional.of(markAt(yaml, Math.max(0, yaml.indexOf("\\U")))),
          "",
          "this is not YAML: an escape (`\\U…`) names no character");
    } catch (YamlEngineException e) {
      problems.add(Optional.empty(), "", "this is not YAML: " + oneLine(e.getMessage()));
    }
    return Optional.empty();
  }

  private static void unreadable(String yaml, int at, int codePoint, Problems problems) {
    problems.add(
        Optional.of(markAt(yaml, at)),
        "",
        "the character U+%04X may not stand in YAML".formatted(codePoint));
  }

  private static int loneSurrogate(String yaml) {
    for (int i = 0; i < yaml.length(); i++) {
      if (Character.isSurrogate(yaml.charAt(i))) {
        if (Character.charCount(yaml.codePointAt(i)) == 1) {
          return i;
        }
        i++;
      }
    }
    return -1;
  }

  private static boolean withinLimits(Iterable<Event> events, Problems problems) {
    int depth = 0;
    int nodes = 0;
    int documents = 0;
    for (Event event : events) {
      String refusal = "";
      switch (event.getEventId()) {
        case MappingStart, SequenceStart -> depth++;
        case MappingEnd, SequenceEnd -> depth--;
        case DocumentStart -> documents++;
        case Alias -> refusal = "an alias (`*…`) is not read here: write the value out";
        default -> {}
      }
      if (tagged(event)) {
        refusal = "a tag (`!…`) is not read here: write the plain value";
      }
      if (event instanceof NodeEvent node) {
        nodes++;
        if (refusal.isEmpty() && node.getAnchor().isPresent()) {
          refusal = "an anchor (`&…`) is not read here: write the values out where they are used";
        }
      }
      if (depth > DEPTH_MAX) {
        refusal = "lists and maps are nested more than %d deep".formatted(DEPTH_MAX);
      } else if (nodes > NODES_MAX) {
        refusal = "the file has more than %d values, which is the limit".formatted(NODES_MAX);
      } else if (documents > 1) {
        refusal = "a second document begins here; a fleet file holds one";
      }
      if (!refusal.isEmpty()) {
        problems.add(event.getStartMark(), "", refusal);
        return false;
      }
    }
    return true;
  }

  private static boolean tagged(Event event) {
    return switch (event) {
      case ScalarEvent scalar -> scalar.getTag().isPresent();
      case CollectionStartEvent collection -> collection.getTag().isPresent();
      default -> false;
    };
  }

  private static String reason(MarkedYamlEngineException e) {
    String problem = oneLine(e.getProblem());
    if (problem.contains("TAB")) {
      return "a tab stands where spaces must";
    }
    String context = oneLine(e.getContext());
    return context.isEmpty() ? problem : problem + " (" + context + ")";
  }

  private static String oneLine(@Nullable String text) {
    return text == null ? "" : text.lines().findFirst().orElse("").strip();
  }

  private static Mark markAt(String yaml, int position) {
    int end = Math.clamp(position, 0, yaml.length());
    int line = (int) yaml.substring(0, end).chars().filter(c -> c == '\n').count();
    int column = end - 1 - yaml.lastIndexOf('\n', Math.max(0, end - 1));
    return new Mark("", end, line, Math.max(0, column), new int[0], 0);
  }
}
