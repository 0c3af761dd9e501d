package dev.flotilla.hub.routing;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * A queue that is served round robin over keys, and in order of arrival within a key.
 *
 * <p>The map's order is the rotation: the key that was served goes to the end. An item that can't
 * be taken now does not hold up those behind it, but is asked first each time.
 *
 * <p>Not safe for use by several threads.
 */
final class FairQueue<T> {
  private final LinkedHashMap<String, ArrayDeque<T>> byKey = new LinkedHashMap<>();
  private int size;

  int size() {
    return size;
  }

  int size(String key) {
    ArrayDeque<T> items = byKey.get(key);
    return items == null ? 0 : items.size();
  }

  /**
   * @param first whether it goes before the key's other items
   */
  void add(String key, T item, boolean first) {
    ArrayDeque<T> items = byKey.computeIfAbsent(key, absent -> new ArrayDeque<>());
    if (first) {
      items.addFirst(item);
    } else {
      items.addLast(item);
    }
    size++;
  }

  boolean remove(String key, T item) {
    ArrayDeque<T> items = byKey.get(key);
    if (items == null || !items.remove(item)) {
      return false;
    }
    size--;
    if (items.isEmpty()) {
      byKey.remove(key);
    }
    return true;
  }

  /**
   * Takes the first item, in the order of fairness, that {@code taken} accepts.
   *
   * @return whether one was taken
   */
  boolean take(Predicate<T> taken) {
    for (Iterator<Map.Entry<String, ArrayDeque<T>>> keys = byKey.entrySet().iterator();
        keys.hasNext(); ) {
      Map.Entry<String, ArrayDeque<T>> entry = keys.next();
      for (Iterator<T> items = entry.getValue().iterator(); items.hasNext(); ) {
        if (taken.test(items.next())) {
          items.remove();
          size--;
          keys.remove();
          if (!entry.getValue().isEmpty()) {
            byKey.put(entry.getKey(), entry.getValue());
          }
          return true;
        }
      }
    }
    return false;
  }

  /** All items, in no order that means something. */
  List<T> items() {
    List<T> all = new ArrayList<>(size);
    byKey.values().forEach(all::addAll);
    return all;
  }
}
