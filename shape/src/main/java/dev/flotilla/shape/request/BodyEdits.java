package dev.flotilla.shape.request;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.flotilla.wire.openai.RequestScan.Field;
import dev.flotilla.wire.openai.RequestScan.Scanned;
import dev.flotilla.wire.openai.RequestScan.Span;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Changes to a request's body: whatever they don't name stays byte for byte. A field is set as
 * often as one likes, the last word counts; a dropped one stays dropped until it is set again.
 */
final class BodyEdits {
  private final Scanned asked;
  private final Map<String, String> set = new LinkedHashMap<>();
  private final Set<String> dropped = new HashSet<>();
  private final List<Splice> inner = new ArrayList<>(0);

  /** Bytes that go, and what comes for them. */
  private record Splice(int from, int to, String with) {}

  BodyEdits(Scanned asked) {
    this.asked = asked;
  }

  /** The field has this value, in JSON, whether it was there or not. */
  void set(String name, String json) {
    dropped.remove(name);
    set.put(name, json);
  }

  /** The field is not there. */
  void drop(String name) {
    set.remove(name);
    if (asked.field(name) != null) {
      dropped.add(name);
    }
  }

  /** These bytes inside of a field that is neither set nor dropped are others. */
  void replace(Span span, String with) {
    inner.add(new Splice(span.from(), span.to(), with));
  }

  /** The changed body; the body itself where nothing was changed. */
  byte[] apply() {
    byte[] body = asked.body();
    List<Splice> splices = splices();
    if (splices.isEmpty()) {
      return body;
    }
    splices.sort(Comparator.comparingInt(Splice::from));
    byte[][] with = new byte[splices.size()][];
    int length = body.length;
    for (int i = 0; i < with.length; i++) {
      Splice splice = splices.get(i);
      with[i] = splice.with.getBytes(UTF_8);
      length += with[i].length - (splice.to - splice.from);
    }
    byte[] result = new byte[length];
    int copied = 0;
    int written = 0;
    for (int i = 0; i < with.length; i++) {
      Splice splice = splices.get(i);
      System.arraycopy(body, copied, result, written, splice.from - copied);
      written += splice.from - copied;
      System.arraycopy(with[i], 0, result, written, with[i].length);
      written += with[i].length;
      copied = splice.to;
    }
    System.arraycopy(body, copied, result, written, body.length - copied);
    return result;
  }

  private List<Splice> splices() {
    List<Splice> splices = new ArrayList<>(inner);
    List<Field> fields = asked.fields();
    Map<String, String> added = new LinkedHashMap<>(set);
    boolean keptBefore = false;
    for (int i = 0; i < fields.size(); i++) {
      Field field = fields.get(i);
      String value = added.remove(field.name());
      if (value != null) {
        splices.add(new Splice(field.valueFrom(), field.valueTo(), value));
      } else if (dropped.contains(field.name())) {
        // With the comma before it, or where nothing is left before it, with the one behind it.
        int from = keptBefore ? fields.get(i - 1).valueTo() : field.keyFrom();
        boolean last = i + 1 == fields.size();
        int to = keptBefore || last ? field.valueTo() : fields.get(i + 1).keyFrom();
        splices.add(new Splice(from, to, ""));
        continue;
      }
      keptBefore = true;
    }
    if (!added.isEmpty()) {
      StringBuilder more = new StringBuilder();
      added.forEach(
          (name, json) -> more.append('"').append(name).append("\":").append(json).append(','));
      int first = fields.getFirst().keyFrom();
      splices.addFirst(new Splice(first, first, more.toString()));
    }
    return splices;
  }
}
