package dev.flotilla.hub.routing;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What can be called at one moment: for each public name the targets that serve it. Made anew
 * whenever the fleet or the configuration changes, and read without a lock.
 *
 * @param revision number of the configuration revision in force, for the header {@code
 *     x-flotilla-revision}
 * @param names every public name (models and routes), in the order of the configuration
 * @param onMachines by node, the {@linkplain Target#ledgerKey() ledger's keys} of all targets on
 *     its machine, which several agents may share
 */
public record FleetSnapshot(
    long revision, Map<String, Name> names, Map<String, Set<String>> onMachines) {

  public static final FleetSnapshot EMPTY = new FleetSnapshot(0, Map.of(), Map.of());

  public FleetSnapshot {
    names = java.util.Collections.unmodifiableMap(new java.util.LinkedHashMap<>(names));
    onMachines = Map.copyOf(onMachines);
  }

  /** The ledger's keys of all targets on a node's machine; none where the node is not known. */
  public Set<String> onMachineOf(String node) {
    return onMachines.getOrDefault(node, Set.of());
  }

  /**
   * A public name.
   *
   * @param name what clients put into {@code model}
   * @param createdEpochSeconds when the name was first configured
   * @param contextTokens the promised context, 0 for a name that is a route over others
   * @param targets those that serve it now, draining ones included; empty where none does
   * @param coming workers that are being started or are lost: whether waiting makes sense
   * @param explanation one sentence for a client that asks while no target serves
   */
  public record Name(
      String name,
      long createdEpochSeconds,
      int contextTokens,
      List<Target> targets,
      int coming,
      String explanation) {

    public Name {
      targets = List.copyOf(targets);
    }
  }
}
