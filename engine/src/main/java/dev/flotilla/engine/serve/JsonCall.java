package dev.flotilla.engine.serve;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * One call that is a JSON object with a {@code name} and {@code arguments} or {@code parameters}.
 * Arguments behind the name are passed on as they come; arguments before it, and those that are
 * spelled as a text, when the object is whole.
 */
final class JsonCall {
  /** What a character was. */
  enum Now {
    INSIDE,
    /** The last one of a whole call. */
    LAST,
    /** The first one behind a call that lacks its end. */
    BEHIND,
    /** One by which it is no call. */
    NO_CALL,
    /** One that makes the arguments, which have begun, malformed. */
    BROKEN
  }

  private enum State {
    BEGIN,
    FIRST_KEY,
    KEY,
    IN_KEY,
    COLON,
    VALUE,
    BEHIND_VALUE
  }

  private final CallSink sink;

  /** What was read of a key or a value, without blanks outside texts. */
  private final StringBuilder read = new StringBuilder();

  private State state = State.BEGIN;
  private JsonScan scan = new JsonScan();
  private String key = "";
  private @Nullable String name;
  private @Nullable String arguments;
  private boolean passesOn;
  private boolean told;

  JsonCall(CallSink sink) {
    this.sink = sink;
  }

  Now next(char c) {
    return switch (state) {
      case IN_KEY -> key(c);
      case VALUE -> value(c);
      default -> CallReader.isBlank(c) ? Now.INSIDE : mark(c);
    };
  }

  private Now mark(char c) {
    return switch (state) {
      case BEGIN -> c == '{' ? go(State.FIRST_KEY) : Now.NO_CALL;
      case FIRST_KEY, KEY -> {
        begin();
        yield c == '"' ? key(c) : failed();
      }
      case COLON -> {
        begin();
        yield c == ':' ? go(State.VALUE) : failed();
      }
      default -> {
        if (c == ',') {
          yield go(State.KEY);
        }
        yield c == '}' ? whole() : failed();
      }
    };
  }

  private void begin() {
    scan = new JsonScan();
    read.setLength(0);
  }

  private Now key(char c) {
    read.append(c);
    return switch (scan.next(c)) {
      case LAST -> {
        key = Json.valueOrText(read.toString()).asString("");
        yield go(State.COLON);
      }
      case INSIDE -> go(State.IN_KEY);
      default -> failed();
    };
  }

  private Now value(char c) {
    boolean blank = CallReader.isBlank(c) && !scan.inString();
    if (c == '{' && read.isEmpty() && !passesOn && !told && isArguments() && name != null) {
      passesOn = true;
      told = true;
      sink.begins(name);
    }
    JsonScan.Now now = scan.next(c);
    if (now == JsonScan.Now.WRONG) {
      return failed();
    }
    if (!blank && now != JsonScan.Now.BEHIND) {
      pass(c);
    }
    if (now == JsonScan.Now.INSIDE) {
      return Now.INSIDE;
    }
    valueIsWhole();
    state = State.BEHIND_VALUE;
    return now == JsonScan.Now.BEHIND ? next(c) : Now.INSIDE;
  }

  private void pass(char c) {
    if (passesOn) {
      sink.says(String.valueOf(c));
    } else {
      read.append(c);
    }
  }

  private boolean isArguments() {
    return key.equals("arguments") || key.equals("parameters");
  }

  private void valueIsWhole() {
    if (passesOn) {
      passesOn = false;
    } else if (isArguments() && arguments == null) {
      arguments = read.toString();
    } else if (key.equals("name") && name == null) {
      JsonNode value = Json.valueOrText(read.toString());
      name = value.isString() && read.charAt(0) == '"' ? value.stringValue() : null;
    }
  }

  private Now whole() {
    if (told) {
      sink.ends(0);
      return Now.LAST;
    }
    String object = object(arguments);
    if (name == null || name.isEmpty() || object == null) {
      return Now.NO_CALL;
    }
    told = true;
    sink.begins(name);
    sink.says(object);
    sink.ends(0);
    return Now.LAST;
  }

  /** The object that arguments are or spell; null where they are none. */
  private static @Nullable String object(@Nullable String arguments) {
    if (arguments == null || arguments.equals("null")) {
      return "{}";
    }
    if (arguments.startsWith("{")) {
      return arguments;
    }
    JsonNode value = Json.valueOrText(arguments);
    ObjectNode spelled = value.isString() ? Json.objectIn(value.stringValue()) : null;
    return spelled == null ? null : Json.text(spelled);
  }

  private Now failed() {
    if (!told) {
      return Now.NO_CALL;
    }
    if (passesOn) {
      return Now.BROKEN;
    }
    sink.ends(1);
    return Now.BEHIND;
  }

  private Now go(State next) {
    state = next;
    return Now.INSIDE;
  }
}
