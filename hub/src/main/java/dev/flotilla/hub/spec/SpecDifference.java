package dev.flotilla.hub.spec;

import dev.flotilla.hub.spec.FleetSpec.Backend;
import dev.flotilla.hub.spec.FleetSpec.Destination;
import dev.flotilla.hub.spec.FleetSpec.Limits;
import dev.flotilla.hub.spec.FleetSpec.Model;
import dev.flotilla.hub.spec.FleetSpec.Promise;
import dev.flotilla.hub.spec.FleetSpec.Recipe;
import dev.flotilla.hub.spec.FleetSpec.Route;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** What changes from one configuration to the next, in words, with what follows for workers. */
public final class SpecDifference {

  /**
   * One change.
   *
   * @param kind what happens to the subject
   * @param subject such as {@code model qwen3-4b}
   * @param text one sentence without the subject, such as {@code context 8192 → 16384: its 2
   *     workers are restarted}
   */
  public record Change(Kind kind, String subject, String text) {

    /** Whether the subject comes, goes or stays. */
    public enum Kind {
      ADDED,
      CHANGED,
      REMOVED
    }

    /** The whole sentence. */
    @Override
    public String toString() {
      return subject + ": " + text;
    }
  }

  private final List<Change> changes = new ArrayList<>();

  private SpecDifference() {}

  /** The changes in the order of the file; empty where the two say the same. */
  public static List<Change> between(FleetSpec old, FleetSpec next) {
    SpecDifference difference = new SpecDifference();
    difference.compare(
        "model ",
        byName(old.models(), Model::name),
        byName(next.models(), Model::name),
        SpecDifference::describe,
        model -> ": " + workers(model.replicas(), "is stopped", "are stopped"),
        difference::models);
    difference.compare(
        "backend ",
        byName(old.backends(), Backend::name),
        byName(next.backends(), Backend::name),
        backend ->
            "%s, model %s, slots %d".formatted(backend.url(), backend.model(), backend.slots()),
        backend -> "",
        difference::backends);
    difference.compare(
        "route ",
        byName(old.routes(), Route::name),
        byName(next.routes(), Route::name),
        route -> String.join(", ", route.models()) + " → " + destinations(route),
        route -> "",
        difference::routes);
    difference.limits(old.limits(), next.limits());
    return List.copyOf(difference.changes);
  }

  private static <T> Map<String, T> byName(List<T> list, Function<T, String> name) {
    Map<String, T> map = new LinkedHashMap<>();
    list.forEach(one -> map.put(name.apply(one), one));
    return map;
  }

  private interface Compare<T> {
    void compare(String subject, T old, T next);
  }

  private <T> void compare(
      String word,
      Map<String, T> old,
      Map<String, T> next,
      Function<T, String> added,
      Function<T, String> removed,
      Compare<T> both) {
    next.forEach((name, now) -> {
      T before = old.get(name);
      if (before == null) {
        changes.add(new Change(Change.Kind.ADDED, word + name, "added: " + added.apply(now)));
      } else {
        both.compare(word + name, before, now);
      }
    });
    old.forEach((name, before) -> {
      if (!next.containsKey(name)) {
        changes.add(
            new Change(Change.Kind.REMOVED, word + name, "removed" + removed.apply(before)));
      }
    });
  }

  private static String describe(Model model) {
    return "context %d, %s"
        .formatted(
            model.promise().contextTokens(),
            workers(model.replicas(), "is started", "are started"));
  }

  private static String workers(int count, String one, String many) {
    return count == 1 ? "1 worker " + one : count + " workers " + many;
  }

  private void models(String subject, Model old, Model next) {
    int kept = Math.min(old.replicas(), next.replicas());
    String restarted =
        kept == 1 ? ": its worker is restarted" : ": its " + kept + " workers are restarted";
    Promise before = old.promise();
    Promise now = next.promise();
    changed(subject, "context", before.contextTokens(), now.contextTokens(), restarted);
    changed(subject, "reasoning", before.reasoning().word(), now.reasoning().word(), restarted);
    changed(subject, "tools", before.tools(), now.tools(), restarted);
    changed(
        subject,
        "min-decode",
        floor(before),
        floor(now),
        ": workers that are slower are proved again; none is restarted");
    changed(
        subject,
        "sampling",
        before.sampling(),
        now.sampling(),
        ": from the next request on; no worker is restarted");
    int more = next.replicas() - old.replicas();
    changed(
        subject,
        "replicas",
        old.replicas(),
        next.replicas(),
        more > 0
            ? ": " + workers(more, "more is started", "more are started")
            : ": " + workers(-more, "is stopped", "are stopped"));
    int recipes = Math.max(old.recipes().size(), next.recipes().size());
    for (int i = 0; i < recipes; i++) {
      recipe(subject, "recipes[" + i + "]", at(old.recipes(), i), at(next.recipes(), i));
    }
  }

  private static String floor(Promise promise) {
    return promise.minDecode() > 0 ? Quantity.ofSpeed(promise.minDecode()) : "none";
  }

  private static Optional<Recipe> at(List<Recipe> recipes, int index) {
    return index < recipes.size() ? Optional.of(recipes.get(index)) : Optional.empty();
  }

  private void recipe(String subject, String what, Optional<Recipe> old, Optional<Recipe> next) {
    if (old.isEmpty() || next.isEmpty()) {
      changed(
          subject,
          what
              + (old.isEmpty()
                  ? " added: workers on nodes that it now suits are restarted"
                  : " removed: the workers started by it are stopped"));
      return;
    }
    Recipe before = old.get();
    Recipe now = next.get();
    String restarted = ": the workers started by it are restarted";
    changed(subject, what + ".engine", before.engine(), now.engine(), restarted);
    changed(subject, what + ".source", before.source(), now.source(), restarted);
    changed(subject, what + ".slots", FleetWriter.slots(before), FleetWriter.slots(now), restarted);
    changed(subject, what + ".embeddings", before.embeddings(), now.embeddings(), restarted);
    changed(subject, what + ".tool-parser", before.chat().toolParser(), now.chat().toolParser());
    changed(
        subject,
        what + ".reasoning-parser",
        before.chat().reasoningParser(),
        now.chat().reasoningParser());
    changed(subject, what + ".chat-template", before.chat().template(), now.chat().template());
    if (!before.args().equals(now.args())) {
      // Compared as maps: another order of the same arguments restarts nothing.
      changed(subject, what + ".args", args(before), args(now), restarted);
    }
    changed(
        subject,
        what + ".when",
        when(before),
        when(now),
        ": workers on nodes that it suits no longer move");
  }

  /** A text that may be missing. */
  private void changed(String subject, String what, String before, String now) {
    changed(
        subject,
        what,
        before.isEmpty() ? "none" : before,
        now.isEmpty() ? "none" : now,
        ": the workers started by it are restarted");
  }

  private static String args(Recipe recipe) {
    return recipe.args().isEmpty() ? "none" : recipe.args().toString();
  }

  private static String when(Recipe recipe) {
    FleetSpec.When when = recipe.when();
    List<String> parts = new ArrayList<>();
    Map<String, List<String>> lists = new LinkedHashMap<>();
    lists.put("os", when.os());
    lists.put("arch", when.arch());
    lists.put("gpu", when.gpu());
    lists.put("node", when.node());
    lists.forEach((key, words) -> {
      if (!words.isEmpty()) {
        parts.add(key + " " + String.join(" or ", words));
      }
    });
    return parts.isEmpty() ? "anywhere" : String.join(" and ", parts);
  }

  private void backends(String subject, Backend old, Backend next) {
    changed(subject, "url", old.url(), next.url(), "");
    changed(subject, "model", old.model(), next.model(), "");
    changed(subject, "slots", old.slots(), next.slots(), "");
    changed(
        subject, "key", old.keyVariable().orElse("none"), next.keyVariable().orElse("none"), "");
  }

  private void routes(String subject, Route old, Route next) {
    changed(
        subject, "models", String.join(", ", old.models()), String.join(", ", next.models()), "");
    changed(subject, "to", destinations(old), destinations(next), "");
  }

  private static String destinations(Route route) {
    List<String> names = new ArrayList<>();
    for (Destination to : route.to()) {
      names.add((to instanceof Destination.ToBackend ? "backend " : "model ") + to.name());
    }
    return String.join(", ", names);
  }

  private void limits(Limits old, Limits next) {
    changed("limits", "queue.per-model", old.queuePerModel(), next.queuePerModel(), "");
    changed(
        "limits",
        "queue.wait",
        Quantity.ofDuration(old.queueWait()),
        Quantity.ofDuration(next.queueWait()),
        "");
    changed(
        "limits",
        "request-body",
        Quantity.ofBytes(old.requestBodyBytes()),
        Quantity.ofBytes(next.requestBodyBytes()),
        "");
    changed("limits", "proof.tokens", old.proofTokens(), next.proofTokens(), "");
    changed(
        "limits",
        "proof.level",
        Quantity.ofDuration(old.proofLevel()),
        Quantity.ofDuration(next.proofLevel()),
        "");
  }

  private void changed(String subject, String what, Object old, Object next, String consequence) {
    if (!old.equals(next)) {
      changed(subject, what + " " + old + " → " + next + consequence);
    }
  }

  private void changed(String subject, String text) {
    changes.add(new Change(Change.Kind.CHANGED, subject, text));
  }
}
