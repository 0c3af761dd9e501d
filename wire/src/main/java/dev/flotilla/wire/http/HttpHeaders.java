package dev.flotilla.wire.http;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Headers in the order in which they were written; names are looked up without regard to case.
 * Immutable. Every name is a token and no value holds a control character other than a tab, so that
 * what is written as one header is read as one header.
 */
public final class HttpHeaders {
  public static final HttpHeaders NONE = new HttpHeaders(new String[0]);

  /** Name, value, name, value, … */
  private final String[] pairs;

  private HttpHeaders(String[] pairs) {
    this.pairs = pairs;
  }

  /**
   * Headers from names and values in turn.
   *
   * @throws IllegalArgumentException if a name is not a token, or a value could end its line
   */
  public static HttpHeaders of(String... namesAndValues) {
    if (namesAndValues.length % 2 != 0) {
      throw new IllegalArgumentException("a header's name has no value");
    }
    String[] pairs = namesAndValues.clone();
    for (int i = 0; i < pairs.length; i += 2) {
      check(pairs[i], pairs[i + 1]);
    }
    return new HttpHeaders(pairs);
  }

  /** The list is the parser's own: names and values in turn, checked where they were read. */
  static HttpHeaders parsed(List<String> namesAndValues) {
    return new HttpHeaders(namesAndValues.toArray(String[]::new));
  }

  /**
   * These headers and one more, after them.
   *
   * @throws IllegalArgumentException as {@link #of}
   */
  public HttpHeaders with(String name, String value) {
    check(name, value);
    String[] more = java.util.Arrays.copyOf(pairs, pairs.length + 2);
    more[pairs.length] = name;
    more[pairs.length + 1] = value;
    return new HttpHeaders(more);
  }

  public int size() {
    return pairs.length / 2;
  }

  public String name(int index) {
    return pairs[2 * index];
  }

  public String value(int index) {
    return pairs[2 * index + 1];
  }

  /** The first value of that name. */
  public Optional<String> first(String name) {
    for (int i = 0; i < pairs.length; i += 2) {
      if (pairs[i].equalsIgnoreCase(name)) {
        return Optional.of(pairs[i + 1]);
      }
    }
    return Optional.empty();
  }

  /** Every value of that name, in order. */
  public List<String> all(String name) {
    List<String> values = new ArrayList<>(1);
    for (int i = 0; i < pairs.length; i += 2) {
      if (pairs[i].equalsIgnoreCase(name)) {
        values.add(pairs[i + 1]);
      }
    }
    return values;
  }

  private static void check(String name, String value) {
    if (name.isEmpty()) {
      throw new IllegalArgumentException("a header has no name");
    }
    for (int i = 0; i < name.length(); i++) {
      if (!isToken(name.charAt(i))) {
        throw new IllegalArgumentException(
            "a header's name holds a character that no header may have, at " + i);
      }
    }
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if ((c < ' ' && c != '\t') || c == 0x7f || c > 0xff) {
        throw new IllegalArgumentException(
            "the value of header " + name + " holds a character that no header may have, at " + i);
      }
    }
  }

  /** RFC 9110 section 5.6.2. */
  static boolean isToken(int c) {
    return (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || (c >= '0' && c <= '9')
        || (c > ' ' && c < 0x7f && "!#$%&'*+-.^_`|~".indexOf(c) >= 0);
  }

  /** Values are left out: one of them may be a key. */
  @Override
  public String toString() {
    StringBuilder names = new StringBuilder("HttpHeaders");
    for (int i = 0; i < pairs.length; i += 2) {
      names.append(i == 0 ? ": " : ", ").append(pairs[i]);
    }
    return names.toString();
  }
}
