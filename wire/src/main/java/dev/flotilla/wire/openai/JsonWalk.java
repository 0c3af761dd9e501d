package dev.flotilla.wire.openai;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.flotilla.wire.text.Json;
import java.util.Arrays;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;

/**
 * A walk over the bytes of one JSON object that knows strings and nesting, looks at names, and
 * makes no objects: for what is read once per token. Since it always knows whether it stands in a
 * string and how deep, nothing that a model writes can pass for a field, however it is quoted.
 * Names written with escapes are decoded before they are compared.
 *
 * <p>It tells an object that is whole from one that is not; inside of values that it skips it looks
 * at strings and brackets only. Each method begins at the first byte of its thing and ends after
 * its last one, or says that the thing is broken. What stands where is the subclass's: {@link
 * #field} is asked for each field, with the level that the subclass gave the object.
 */
abstract sealed class JsonWalk permits ChunkScan, OutputScan, UsageWalk {
  byte[] bytes = new byte[0];
  int at;
  int end;

  private byte[] keyBytes = bytes;
  private int keyQuote;
  private int keyStart;
  private int keyEnd;
  private boolean keyEscaped;

  JsonWalk() {}

  /**
   * Walks over the value of a field whose name was just read; {@link #at} is at its first byte.
   *
   * @param level of the object in which it stands
   * @return whether the value is whole
   */
  abstract boolean field(int level);

  /** Whether there is one object of that level and nothing else. */
  final boolean wholeObject(byte[] json, int start, int length, int level) {
    bytes = json;
    at = start;
    end = start + length;
    boolean whole = object(level);
    skipSpace();
    return whole && at == end;
  }

  final boolean object(int level) {
    skipSpace();
    if (at >= end || bytes[at] != '{') {
      return false;
    }
    at++;
    skipSpace();
    if (at < end && bytes[at] == '}') {
      at++;
      return true;
    }
    while (true) {
      if (!key() || !field(level)) {
        return false;
      }
      skipSpace();
      if (at >= end || (bytes[at] != ',' && bytes[at] != '}')) {
        return false;
      }
      if (bytes[at++] == '}') {
        return true;
      }
      skipSpace();
    }
  }

  /**
   * Walks over a list whose objects are of that level; whatever else stands in it is skipped.
   *
   * @return how many elements it has, -1 if it is broken
   */
  final int list(int level) {
    at++;
    skipSpace();
    if (at < end && bytes[at] == ']') {
      at++;
      return 0;
    }
    for (int count = 1; ; count++) {
      boolean fine = at < end && (bytes[at] == '{' ? object(level) : value());
      skipSpace();
      if (!fine || at >= end || (bytes[at] != ',' && bytes[at] != ']')) {
        return -1;
      }
      if (bytes[at++] == ']') {
        return count;
      }
      skipSpace();
    }
  }

  /** A name, its colon, and the space up to the value. */
  private boolean key() {
    keyBytes = bytes;
    keyQuote = at;
    keyStart = at + 1;
    keyEscaped = false;
    if (!string()) {
      return false;
    }
    keyEnd = at - 1;
    skipSpace();
    if (at >= end || bytes[at] != ':') {
      return false;
    }
    at++;
    skipSpace();
    return at < end;
  }

  final boolean value() {
    byte first = bytes[at];
    if (first == '"') {
      return string();
    }
    if (first == '{' || first == '[') {
      return nested();
    }
    int start = at;
    while (at < end && isLiteral(bytes[at])) {
      at++;
    }
    return at > start;
  }

  private boolean nested() {
    int depth = 0;
    while (at < end) {
      switch (bytes[at]) {
        case '"' -> {
          if (!string()) {
            return false;
          }
          continue;
        }
        case '{', '[' -> depth++;
        case '}', ']' -> depth--;
        default -> {}
      }
      at++;
      if (depth == 0) {
        return true;
      }
    }
    return false;
  }

  private boolean string() {
    if (at >= end || bytes[at] != '"') {
      return false;
    }
    byte[] b = bytes;
    int last = end;
    for (int i = at + 1; i < last; i++) {
      if (b[i] == '"') {
        at = i + 1;
        return true;
      }
      if (b[i] == '\\') {
        keyEscaped = true;
        i++;
      }
    }
    return false;
  }

  final void skipSpace() {
    while (at < end
        && (bytes[at] == ' ' || bytes[at] == '\n' || bytes[at] == '\r' || bytes[at] == '\t')) {
      at++;
    }
  }

  private static boolean isLiteral(byte b) {
    return (b >= 'a' && b <= 'z')
        || (b >= '0' && b <= '9')
        || b == '-'
        || b == '+'
        || b == '.'
        || b == 'E';
  }

  /** Where the name of the field begins whose value is walked over, with its quote. */
  final int keyFrom() {
    return keyQuote;
  }

  final boolean isKey(byte[] name) {
    if (keyEscaped) {
      decodeKey();
    }
    return Arrays.equals(keyBytes, keyStart, keyEnd, name, 0, name.length);
  }

  /** A name written with escapes; one whose escapes are broken is no name that we look for. */
  private void decodeKey() {
    keyEscaped = false;
    try (JsonParser parser = Json.parser(bytes, keyStart - 1, keyEnd - keyStart + 2)) {
      parser.nextToken();
      keyBytes = parser.getString().getBytes(UTF_8);
      keyStart = 0;
      keyEnd = keyBytes.length;
    } catch (JacksonException _) {
      keyEnd = keyStart;
    }
  }
}
