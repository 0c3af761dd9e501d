package dev.flotilla.engine.grammar;

import dev.flotilla.wire.text.Names;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;

/**
 * JSON schemas as grammars: every text of the grammar is a value that the schema allows, in the
 * notation that is asked for.
 *
 * <p>Fields come in the order of the schema. A keyword that only describes is passed over; one that
 * restricts and is not known here is refused by its name, for an answer that ignored it would be
 * wrong without a word.
 */
final class JsonSchemas {
  /** Schemas within each other, references included only once. */
  private static final int DEPTH_MAX = 64;

  /** Characters or items that are counted. */
  private static final int COUNT_MAX = 2_000;

  private static final Set<String> DESCRIBING =
      Set.of(
          "title",
          "description",
          "default",
          "examples",
          "example",
          "$schema",
          "$id",
          "$comment",
          "format",
          "deprecated",
          "readOnly",
          "writeOnly",
          "$defs",
          "definitions",
          "strict",
          "contentMediaType",
          "contentEncoding",
          "$anchor");

  private final JsonNode root;
  private final Notation notation;
  private final String name;
  private final Map<String, Expr> rules;
  private final Map<String, String> references = new LinkedHashMap<>();
  private int names;
  private int depth;

  private JsonSchemas(JsonNode root, Notation notation, String name, Map<String, Expr> rules) {
    this.root = root;
    this.notation = notation;
    this.name = name;
    this.rules = rules;
  }

  /** The rules of a schema, {@code root} being the whole. */
  static Map<String, Expr> rules(JsonNode schema, Notation notation) {
    Map<String, Expr> rules = ValueRules.of(notation);
    add(rules, "root", schema, notation, "the schema");
    return rules;
  }

  /** The rules of any JSON object. */
  static Map<String, Expr> anyObject() {
    Map<String, Expr> rules = ValueRules.of(new JsonNotation());
    rules.put("root", ValueRules.rule("object"));
    return rules;
  }

  /**
   * Adds a schema to rules that have the {@linkplain ValueRules common} ones.
   *
   * @param name the rule that is the whole of it; a letter and digits
   * @param where what errors call it
   */
  static void add(
      Map<String, Expr> rules, String name, JsonNode schema, Notation notation, String where) {
    rules.put(name, Expr.EMPTY);
    rules.put(name, new JsonSchemas(schema, notation, name, rules).value(schema, where));
  }

  private Expr value(JsonNode schema, String where) {
    depth++;
    if (depth > DEPTH_MAX) {
      throw new GrammarRefused("the schema is more than " + DEPTH_MAX + " levels deep");
    }
    Expr expr = valueOf(schema, where);
    depth--;
    return expr;
  }

  private Expr valueOf(JsonNode schema, String where) {
    if (schema.isBoolean()) {
      if (schema.booleanValue()) {
        return ValueRules.rule("value");
      }
      throw new GrammarRefused(where + " allows nothing");
    }
    if (!schema.isObject()) {
      throw new GrammarRefused(where + " must be an object");
    }
    if (schema.has("$ref")) {
      known(schema, where, Set.of("$ref"));
      return reference(schema.path("$ref").asString(""), where);
    }
    if (schema.has("const")) {
      known(schema, where, Set.of("const", "type"));
      return notation.literal(schema.get("const"));
    }
    if (schema.has("enum")) {
      known(schema, where, Set.of("enum", "type"));
      return literals(schema.get("enum"), where);
    }
    for (String choice : List.of("anyOf", "oneOf")) {
      if (schema.has(choice)) {
        known(schema, where, Set.of(choice, "type"));
        return options(schema.get(choice), where + "." + choice);
      }
    }
    if (schema.has("allOf")) {
      known(schema, where, Set.of("allOf", "type"));
      if (!(schema.get("allOf") instanceof ArrayNode one) || one.size() != 1) {
        throw new GrammarRefused(where + ".allOf must be a list of one schema");
      }
      return value(one.get(0), where + ".allOf[0]");
    }
    JsonNode type = schema.get("type");
    if (type instanceof ArrayNode several) {
      List<Expr> options = new ArrayList<>();
      several.forEach(each -> options.add(typed(schema, each.asString(""), where, true)));
      return new Expr.Choice(options);
    }
    if (type != null) {
      return typed(schema, type.asString(""), where, false);
    }
    if (schema.has("properties")) {
      return typed(schema, "object", where, false);
    }
    known(schema, where, Set.of());
    return ValueRules.rule("value");
  }

  private Expr typed(JsonNode schema, String type, String where, boolean amongOthers) {
    return switch (type) {
      case "object" -> {
        if (!amongOthers) {
          known(schema, where, Set.of("type", "properties", "required", "additionalProperties"));
        }
        yield object(schema, where);
      }
      case "array" -> {
        if (!amongOthers) {
          known(schema, where, Set.of("type", "items", "minItems", "maxItems"));
        }
        yield array(schema, where);
      }
      case "string" -> {
        if (!amongOthers) {
          known(schema, where, Set.of("type", "minLength", "maxLength", "pattern"));
        }
        yield string(schema, where);
      }
      case "integer" -> {
        known(
            schema,
            where,
            Set.of(
                "type",
                "minimum",
                "maximum",
                "properties",
                "required",
                "additionalProperties",
                "items",
                "minLength",
                "maxLength"));
        yield schema.has("minimum") || schema.has("maximum")
            ? Integers.between(bound(schema, "minimum", where), bound(schema, "maximum", where))
            : ValueRules.rule("integer");
      }
      case "number" -> {
        known(
            schema,
            where,
            Set.of(
                "type",
                "properties",
                "required",
                "additionalProperties",
                "items",
                "minLength",
                "maxLength"));
        yield ValueRules.rule("number");
      }
      case "boolean" -> Expr.choice(Expr.text("true"), Expr.text("false"));
      case "null" -> Expr.text("null");
      default ->
          throw new GrammarRefused(where + ".type is " + Names.shown(type) + ", which is none");
    };
  }

  private static @Nullable Long bound(JsonNode schema, String name, String where) {
    JsonNode value = schema.get(name);
    if (value == null) {
      return null;
    }
    if (!value.isNumber() || value.doubleValue() % 1 != 0 || Math.abs(value.doubleValue()) > 1e15) {
      throw new GrammarRefused(where + "." + name + " must be a whole number of at most 15 digits");
    }
    return value.longValue();
  }

  private Expr options(JsonNode list, String where) {
    if (!list.isArray() || list.isEmpty()) {
      throw new GrammarRefused(where + " must be a list that is not empty");
    }
    List<Expr> options = new ArrayList<>();
    for (int i = 0; i < list.size(); i++) {
      options.add(value(list.get(i), where + "[" + i + "]"));
    }
    return new Expr.Choice(options);
  }

  private Expr literals(JsonNode list, String where) {
    if (!list.isArray() || list.isEmpty() || list.size() > COUNT_MAX) {
      throw new GrammarRefused(where + ".enum must have 1 to " + COUNT_MAX + " values");
    }
    List<Expr> options = new ArrayList<>();
    list.forEach(each -> options.add(notation.literal(each)));
    return new Expr.Choice(options);
  }

  private Expr reference(String pointer, String where) {
    if (!pointer.equals("#") && !pointer.startsWith("#/")) {
      throw new GrammarRefused(where + ".$ref must point into the schema itself, with # or #/");
    }
    String known = references.get(pointer);
    if (known == null) {
      JsonNode target = pointer.equals("#") ? root : root.at(pointer.substring(1));
      if (target.isMissingNode()) {
        throw new GrammarRefused(
            where + ".$ref points to " + Names.shown(pointer) + ", which is not there");
      }
      known = fresh();
      references.put(pointer, known);
      rules.put(known, Expr.EMPTY);
      rules.put(known, value(target, Names.shown(pointer)));
    }
    return ValueRules.rule(known);
  }

  private String fresh() {
    names++;
    return name + "-" + names;
  }

  private Expr object(JsonNode schema, String where) {
    JsonNode properties = schema.path("properties");
    if (!properties.isMissingNode() && !properties.isObject()) {
      throw new GrammarRefused(where + ".properties must be an object");
    }
    if (schema.has("required") && !schema.path("required").isArray()) {
      throw new GrammarRefused(where + ".required must be a list");
    }
    Set<String> required = new HashSet<>();
    schema.path("required").forEach(each -> required.add(each.asString("")));
    for (String name : required) {
      if (!properties.has(name)) {
        throw new GrammarRefused(where + ".required names " + Names.shown(name) + ", no property");
      }
    }
    List<Expr> fields = new ArrayList<>();
    List<Boolean> demanded = new ArrayList<>();
    properties
        .properties()
        .forEach(each -> {
          Expr value = value(each.getValue(), where + "." + Names.shown(each.getKey()));
          fields.add(Expr.sequence(notation.key(each.getKey()), ValueRules.separated(":"), value));
          demanded.add(required.contains(each.getKey()));
        });
    JsonNode more = schema.get("additionalProperties");
    boolean open = more != null ? !more.isBoolean() || more.booleanValue() : fields.isEmpty();
    Expr others = Expr.EMPTY;
    if (open) {
      Expr value =
          more == null || more.isBoolean()
              ? ValueRules.rule("value")
              : value(more, where + ".additionalProperties");
      others = Expr.sequence(notation.anyKey(), ValueRules.separated(":"), value);
    }
    return ValueRules.enclosed("{", fields(fields, demanded, open, others), "}");
  }

  /**
   * Fields in order, those that are not demanded left out or not: for each place two rules, one for
   * when none came before, one with a comma.
   */
  private Expr fields(List<Expr> fields, List<Boolean> demanded, boolean open, Expr others) {
    Expr comma = ValueRules.separated(",");
    Expr first = open ? ValueRules.list(others, 0, -1) : Expr.EMPTY;
    Expr later =
        open
            ? Expr.sequence(
                new Expr.Repeat(Expr.sequence(comma, others), 0, -1), ValueRules.rule("blank"))
            : ValueRules.rule("blank");
    for (int i = fields.size() - 1; i >= 0; i--) {
      String afterwards = fresh();
      rules.put(afterwards, later);
      Expr withThis = Expr.sequence(fields.get(i), ValueRules.rule(afterwards));
      Expr withComma = Expr.sequence(comma, fields.get(i), ValueRules.rule(afterwards));
      if (demanded.get(i)) {
        first = withThis;
        later = withComma;
      } else {
        String without = fresh();
        rules.put(without, first);
        first = Expr.choice(withThis, ValueRules.rule(without));
        later = Expr.choice(withComma, ValueRules.rule(afterwards));
      }
    }
    return first;
  }

  private Expr array(JsonNode schema, String where) {
    JsonNode items = schema.get("items");
    Expr item = items == null ? ValueRules.rule("value") : value(items, where + ".items");
    int min = count(schema, "minItems", 0, where);
    int max = count(schema, "maxItems", -1, where);
    ordered(min, max, where + ".minItems");
    return ValueRules.enclosed("[", ValueRules.list(item, min, max), "]");
  }

  private Expr string(JsonNode schema, String where) {
    int min = count(schema, "minLength", 0, where);
    int max = count(schema, "maxLength", -1, where);
    ordered(min, max, where + ".minLength");
    if (schema.has("pattern")) {
      if (min > 0 || max >= 0) {
        throw new GrammarRefused(where + " has a pattern and a length: only one is supported");
      }
      return notation.pattern(schema.path("pattern").asString(""));
    }
    return min == 0 && max < 0
        ? ValueRules.rule(ValueRules.STRING)
        : notation.text(new Expr.Repeat(notation.counted(), min, max));
  }

  private static void ordered(int min, int max, String where) {
    if (max >= 0 && min > max) {
      throw new GrammarRefused(where + " is more than the most");
    }
  }

  private static int count(JsonNode schema, String name, int otherwise, String where) {
    JsonNode value = schema.get(name);
    if (value == null) {
      return otherwise;
    }
    if (!value.isIntegralNumber() || value.longValue() < 0 || value.longValue() > COUNT_MAX) {
      throw new GrammarRefused(where + "." + name + " must be from 0 to " + COUNT_MAX);
    }
    return value.intValue();
  }

  private static void known(JsonNode schema, String where, Set<String> keywords) {
    for (String keyword : schema.propertyNames()) {
      if (!keywords.contains(keyword) && !DESCRIBING.contains(keyword)) {
        throw new GrammarRefused(
            where + " has the keyword " + Names.shown(keyword) + ", which is not supported");
      }
    }
  }
}
