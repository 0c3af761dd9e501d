package dev.flotilla.cli.output;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Dump;
import org.snakeyaml.engine.v2.api.DumpSettings;
import org.snakeyaml.engine.v2.common.FlowStyle;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What a listing is printed as. */
public enum Format {
  /** For people, cut to the terminal's width. */
  TABLE,
  /** For people, with more columns and nothing cut. */
  WIDE,
  /** For programs; a list is an array. */
  JSON,
  /** For programs; each thing of a list is a line of its own. */
  JSONL,
  /** For programs and people. */
  YAML;

  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  /** Whether programs read it. */
  public boolean forPrograms() {
    return this != TABLE && this != WIDE;
  }

  /** Prints a document for programs. */
  public void printDocument(JsonNode document, Shell shell) {
    switch (this) {
      case YAML -> shell.out().print(yaml(document));
      case JSONL -> {
        if (document.isArray()) {
          document.forEach(item -> shell.out().println(item.toString()));
        } else {
          shell.out().println(document.toString());
        }
      }
      default ->
          shell.out().println(MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(document));
    }
    shell.out().flush();
  }

  private static String yaml(JsonNode document) {
    DumpSettings settings =
        DumpSettings.builder().setDefaultFlowStyle(FlowStyle.BLOCK).setWidth(100).build();
    return new Dump(settings).dumpToString(plain(document));
  }

  private static @Nullable Object plain(JsonNode node) {
    if (node.isObject()) {
      Map<String, @Nullable Object> map = new LinkedHashMap<>();
      node.properties().forEach(field -> map.put(field.getKey(), plain(field.getValue())));
      return map;
    }
    if (node.isArray()) {
      List<@Nullable Object> list = new ArrayList<>();
      node.forEach(item -> list.add(plain(item)));
      return list;
    }
    if (node.isIntegralNumber()) {
      return node.longValue();
    }
    if (node.isNumber()) {
      return node.doubleValue();
    }
    if (node.isBoolean()) {
      return node.booleanValue();
    }
    return node.isNull() ? null : node.asString();
  }

  /** Takes the word as users write it. */
  public static final class Converter implements ITypeConverter<Format> {
    @Override
    public Format convert(String word) {
      try {
        return Format.valueOf(word.toUpperCase(Locale.ROOT));
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(
            "'" + word + "' is not one of table, wide, json, jsonl, yaml");
      }
    }
  }
}
