package dev.flotilla.hub.fleet;

import dev.flotilla.hub.spec.FleetSpec;
import dev.flotilla.wire.fleet.NodeFacts;
import dev.flotilla.wire.fleet.WorkerSpec;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Which recipe a node gets, and what worker follows from it. Pure. */
final class Recipes {
  private Recipes() {}

  /** The first recipe whose condition holds on the node. */
  static Optional<FleetSpec.Recipe> recipeFor(FleetSpec.Model model, String node, NodeFacts facts) {
    return model.recipes().stream().filter(recipe -> holds(recipe.when(), node, facts)).findFirst();
  }

  /** What a worker of this model and recipe is. */
  static WorkerSpec workerSpec(String id, FleetSpec.Model model, FleetSpec.Recipe recipe) {
    return new WorkerSpec(
        id,
        model.name(),
        recipe.engine(),
        recipe.source(),
        model.promise().contextTokens(),
        recipe.slots(),
        model.promise().reasoning(),
        model.promise().tools(),
        recipe.embeddings(),
        recipe.chat(),
        recipe.args());
  }

  /**
   * Whether a placed worker is still what the configuration asks for on its node. Where the node's
   * facts are not known yet, any recipe will do.
   */
  static boolean fits(
      WorkerSpec placed, FleetSpec.Model model, String node, Optional<NodeFacts> facts) {
    if (facts.isPresent()) {
      return recipeFor(model, node, facts.get())
          .map(recipe -> workerSpec(placed.id(), model, recipe).equals(placed))
          .orElse(false);
    }
    return model.recipes().stream()
        .anyMatch(recipe -> workerSpec(placed.id(), model, recipe).equals(placed));
  }

  private static boolean holds(FleetSpec.When when, String node, NodeFacts facts) {
    return (when.node().isEmpty() || when.node().contains(node))
        && matches(when.os(), facts.os())
        && (when.arch().isEmpty()
            || when.arch().stream().anyMatch(a -> arch(a).equals(arch(facts.arch()))))
        && (when.gpu().isEmpty() || when.gpu().stream().anyMatch(gpu -> hasGpu(gpu, facts)));
  }

  private static boolean matches(List<String> wanted, String value) {
    return wanted.isEmpty() || wanted.stream().anyMatch(value::equalsIgnoreCase);
  }

  private static boolean hasGpu(String gpu, NodeFacts facts) {
    return gpu.equalsIgnoreCase("none")
        ? facts.accelerators().isEmpty()
        : facts.accelerators().stream().anyMatch(a -> a.vendor().equalsIgnoreCase(gpu));
  }

  /** Two words for one thing: operating systems do not agree on how an architecture is called. */
  private static String arch(String word) {
    return switch (word.toLowerCase(Locale.ROOT)) {
      case "amd64", "x64", "x86-64" -> "x86_64";
      case "arm64" -> "aarch64";
      default -> word.toLowerCase(Locale.ROOT);
    };
  }

  /**
   * Memory that a worker of this recipe would find on the node: that of the accelerator that the
   * recipe asks for, where its driver says how much is free, else the machine's.
   */
  static long freeBytes(FleetSpec.Recipe recipe, NodeFacts facts) {
    return facts.accelerators().stream()
        .filter(a -> recipe.when().gpu().stream().anyMatch(a.vendor()::equalsIgnoreCase))
        .filter(a -> a.memoryTotalBytes() > 0 && a.memoryFreeBytes() >= 0)
        .mapToLong(NodeFacts.Accelerator::memoryFreeBytes)
        .max()
        .orElse(facts.memoryAvailableBytes());
  }
}
