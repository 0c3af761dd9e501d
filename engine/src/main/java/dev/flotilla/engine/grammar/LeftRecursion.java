package dev.flotilla.engine.grammar;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Finds rules that can begin with themselves before any character has come: reading them would call
 * them without end.
 */
final class LeftRecursion {
  private final Map<String, Expr> rules;
  private final Set<String> mayBeEmpty = new HashSet<>();

  private LeftRecursion(Map<String, Expr> rules) {
    this.rules = rules;
  }

  /** One such rule, where there is one. */
  static Optional<String> find(Map<String, Expr> rules) {
    LeftRecursion search = new LeftRecursion(rules);
    search.findEmpty();
    Map<String, List<String>> first = new LinkedHashMap<>();
    rules.forEach((name, expr) -> {
      List<String> names = new ArrayList<>();
      search.first(expr, names);
      first.put(name, names);
    });
    return search.onACircle(first);
  }

  /** Which rules may be the empty text: those that are found to be make others so. */
  private void findEmpty() {
    boolean more = true;
    while (more) {
      more = false;
      for (Map.Entry<String, Expr> rule : rules.entrySet()) {
        more |= isEmpty(rule.getValue()) && mayBeEmpty.add(rule.getKey());
      }
    }
  }

  private boolean isEmpty(Expr expr) {
    return switch (expr) {
      case Expr.Text text -> text.bytes().length == 0;
      case Expr.Chars _, Expr.Token _ -> false;
      case Expr.Sequence sequence -> sequence.parts().stream().allMatch(this::isEmpty);
      case Expr.Choice choice -> choice.options().stream().anyMatch(this::isEmpty);
      case Expr.Repeat repeat -> repeat.min() == 0 || isEmpty(repeat.part());
      case Expr.Rule rule -> mayBeEmpty.contains(rule.name());
    };
  }

  /** The rules with which it may begin. */
  private void first(Expr expr, List<String> names) {
    switch (expr) {
      case Expr.Text _, Expr.Chars _, Expr.Token _ -> {}
      case Expr.Sequence sequence -> {
        for (Expr part : sequence.parts()) {
          first(part, names);
          if (!isEmpty(part)) {
            break;
          }
        }
      }
      case Expr.Choice choice -> choice.options().forEach(each -> first(each, names));
      case Expr.Repeat repeat -> {
        if (repeat.max() != 0) {
          first(repeat.part(), names);
        }
      }
      case Expr.Rule rule -> names.add(rule.name());
    }
  }

  /** Takes away what nothing leads to, then what leads nowhere; circles are what stays. */
  private Optional<String> onACircle(Map<String, List<String>> first) {
    Map<String, Integer> ways = new HashMap<>();
    first.values().forEach(names -> names.forEach(name -> ways.merge(name, 1, Integer::sum)));
    Deque<String> unreached = new ArrayDeque<>();
    first.keySet().stream().filter(name -> !ways.containsKey(name)).forEach(unreached::add);
    Set<String> left = new HashSet<>(first.keySet());
    while (!unreached.isEmpty()) {
      String name = unreached.remove();
      left.remove(name);
      for (String next : first.getOrDefault(name, List.of())) {
        if (ways.merge(next, -1, Integer::sum) == 0) {
          unreached.add(next);
        }
      }
    }
    boolean more = true;
    while (more) {
      more =
          left.removeIf(
              name -> first.getOrDefault(name, List.of()).stream().noneMatch(left::contains));
    }
    return first.keySet().stream().filter(left::contains).findFirst();
  }
}
