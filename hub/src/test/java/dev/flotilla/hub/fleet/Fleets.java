package dev.flotilla.hub.fleet;

import dev.flotilla.hub.spec.FleetSpec;
import dev.flotilla.wire.fleet.NodeFacts;
import dev.flotilla.wire.fleet.WorkerReport;
import dev.flotilla.wire.fleet.WorkerReport.Phase;
import dev.flotilla.wire.fleet.WorkerSpec;
import java.util.List;
import java.util.Map;

/** Words for tests: small specs, machines and reports. */
public final class Fleets {
  public static final long GIB = 1L << 30;

  private Fleets() {}

  public static FleetSpec.Recipe recipe(FleetSpec.When when, String source) {
    return new FleetSpec.Recipe("llama-server", when, source, 4, false, Map.of());
  }

  public static FleetSpec.Model model(String name, int replicas, FleetSpec.Recipe... recipes) {
    return new FleetSpec.Model(
        name,
        new FleetSpec.Promise(4096, WorkerSpec.Reasoning.INLINE, true),
        replicas,
        recipes.length == 0
            ? List.of(recipe(FleetSpec.When.ANYWHERE, "/models/" + name + ".gguf"))
            : List.of(recipes));
  }

  public static FleetSpec spec(FleetSpec.Model... models) {
    return new FleetSpec(List.of(models), List.of(), List.of(), FleetSpec.Limits.DEFAULT);
  }

  public static NodeFacts machine(long freeGib) {
    return machine("linux", "x86_64", freeGib);
  }

  public static NodeFacts machine(
      String os, String arch, long freeGib, NodeFacts.Accelerator... gpus) {
    return machineOf("host", os, arch, freeGib, gpus);
  }

  /** A machine of that name: two with different names are not the same. */
  public static NodeFacts machineOf(
      String host, String os, String arch, long freeGib, NodeFacts.Accelerator... gpus) {
    return new NodeFacts(
        host,
        os,
        "1",
        arch,
        false,
        "cpu",
        8,
        16,
        64 * GIB,
        freeGib * GIB,
        0.5,
        List.of(gpus),
        List.of());
  }

  public static WorkerReport report(String id, long generation, Phase phase, int port) {
    return report(id, generation, phase, port, "");
  }

  public static WorkerReport report(
      String id, long generation, Phase phase, int port, String reason) {
    boolean ready = phase == Phase.READY;
    String model = id.substring(id.indexOf('/') + 1, id.lastIndexOf('-'));
    return new WorkerReport(
        id,
        model,
        generation,
        phase,
        reason,
        "llama-server",
        ready ? "b1" : "",
        ready ? 4711 : 0,
        ready ? port : 0,
        ready ? "key-of-" + generation : "",
        List.of("llama-server", "--port", "" + port),
        ready ? 4096 : 0,
        ready ? 4 : 0,
        false,
        16,
        ready ? GIB : 0,
        1,
        null,
        "",
        false);
  }
}
