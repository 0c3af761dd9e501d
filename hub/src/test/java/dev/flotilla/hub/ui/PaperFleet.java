package dev.flotilla.hub.ui;

import dev.flotilla.hub.fleet.NodeView;
import dev.flotilla.hub.fleet.WorkerView;
import dev.flotilla.hub.fleet.WorkerView.State;
import dev.flotilla.hub.proof.ProofRecord;
import dev.flotilla.hub.routing.Dialer;
import dev.flotilla.hub.routing.FleetSnapshot;
import dev.flotilla.hub.routing.Target;
import dev.flotilla.hub.routing.TargetLoad;
import dev.flotilla.hub.store.Event;
import dev.flotilla.wire.fleet.NodeFacts;
import dev.flotilla.wire.lanes.ControlMessage.Severity;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/** A fleet that exists on paper only, for the dashboard to show; a test changes what it says. */
final class PaperFleet implements DashboardData {
  static final Instant NOON = Instant.parse("2026-01-05T12:00:00Z");

  volatile List<WorkerView> workers = List.of();
  volatile List<NodeView> nodes = List.of();
  volatile List<TargetLoad> loads = List.of();
  volatile FleetSnapshot fleet = FleetSnapshot.EMPTY;
  volatile List<Event> events = List.of();
  volatile List<Progress> progress = List.of();
  volatile List<ProofRecord> proofs = List.of();
  volatile List<Report> reports = List.of();
  volatile List<Notice> banner = List.of();
  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

  /** Three nodes, six workers in every mood, two models, a backend, a download and a history. */
  static PaperFleet busy() {
    PaperFleet fleet = new PaperFleet();
    long gib = 1L << 30;
    fleet.nodes =
        List.of(
            node(
                "studio",
                "macos",
                "26.1",
                "aarch64",
                "Apple M3 Ultra",
                24,
                192,
                61,
                "Apple M3 Ultra"),
            node(
                "tower",
                "linux",
                "Ubuntu 24.04",
                "x86_64",
                "AMD Ryzen 9 7950X",
                16,
                128,
                90,
                "NVIDIA RTX 4090"),
            new NodeView(
                "attic", false, 3, "0.1.0", null, NOON.minusSeconds(340), 0, 0, 1, false, ""));
    fleet.workers =
        List.of(
            worker("studio/qwen3-14b-1", "studio", State.SERVING, "", "Apple M3 Ultra"),
            worker("studio/qwen3-14b-2", "studio", State.DRAINING, "", "Apple M3 Ultra"),
            worker("tower/qwen3-14b-1", "tower", State.SERVING, "", "NVIDIA RTX 4090"),
            worker(
                "tower/smollm2-135m-1",
                "tower",
                State.STARTING,
                "the engine died with exit code 137; started again in 8 s",
                ""),
            worker(
                "tower/smollm2-135m-2",
                "tower",
                State.REFUSED,
                "needs 3.2 GiB and 1.9 GiB are free: lower context or slots",
                ""),
            worker(
                "attic/smollm2-135m-1",
                "attic",
                State.LOST,
                "its node has been silent for 340 s",
                ""));
    fleet.loads =
        List.of(
            new TargetLoad("studio/qwen3-14b-1", 3, 41.26, 830, 18_204, 2, 0),
            new TargetLoad("studio/qwen3-14b-2", 1, 39.9, 812, 17_950, 0, 0),
            new TargetLoad("tower/qwen3-14b-1", 4, 96.4, 3100, 40_112, 11, 4200),
            new TargetLoad("lab-vllm", 2, 120.5, 0, 551, 0, 0));
    fleet.fleet =
        new FleetSnapshot(
            7,
            names(
                new FleetSnapshot.Name(
                    "qwen3-14b",
                    1,
                    32_768,
                    List.of(
                        target("studio/qwen3-14b-1", Target.Kind.WORKER),
                        target("tower/qwen3-14b-1", Target.Kind.WORKER),
                        target("lab-vllm", Target.Kind.BACKEND)),
                    0,
                    ""),
                new FleetSnapshot.Name(
                    "smollm2-135m",
                    1,
                    4096,
                    List.of(),
                    1,
                    "No worker of smollm2-135m answers: one is starting, one is refused, one is lost.")),
            Map.of());
    fleet.progress =
        List.of(
            new Progress(
                "tower",
                "hf:Qwen/Qwen3-32B-GGUF/Qwen3-32B-Q4_K_M.gguf",
                "fetching",
                7 * gib,
                19 * gib),
            new Progress("studio", "llama-server", "installing", 12 << 20, -1));
    fleet.banner =
        List.of(
            new Notice(
                Severity.ERROR,
                "Revision 8 was refused and 7 stays in force: fleet.yaml line 12: unknown key replica; the nearest known one is replicas."),
            new Notice(
                Severity.WARNING,
                "The hub listens on 0.0.0.0:8484 without TLS: keys and answers can be read on the way. Give --tls-cert and --tls-key."));
    fleet.events =
        List.of(
            event(
                6,
                Severity.ERROR,
                "worker-died",
                "tower/smollm2-135m-1",
                "exit code 137 after 71 s; started again in 8 s"),
            event(
                5,
                Severity.WARNING,
                "node-lost",
                "attic",
                "silent for 15 s, 1 worker lost with it"),
            event(
                4,
                Severity.WARNING,
                "worker-refused",
                "tower/smollm2-135m-2",
                "needs 3.2 GiB and 1.9 GiB are free"),
            event(
                3,
                Severity.INFO,
                "worker-serving",
                "tower/qwen3-14b-1",
                "ready after 6.1 s, context 32,768, 4 slots"),
            event(2, Severity.INFO, "node-joined", "tower", "agent 0.1.0, generation 12"),
            event(1, Severity.INFO, "revision-activated", "7", "2 models, 1 backend, 1 route"));
    return fleet;
  }

  static WorkerView worker(String name, String node, State state, String reason, String gpu) {
    boolean runs = state != State.REFUSED;
    String model = name.substring(name.indexOf('/') + 1, name.lastIndexOf('-'));
    return new WorkerView(
        name,
        node,
        node + ".local",
        gpu,
        model,
        "llama-server",
        "b6123",
        state == State.SERVING || state == State.DRAINING ? 32_768 : 0,
        4,
        state,
        reason,
        12,
        runs ? 40_112 : 0,
        runs ? 41_877 : 0,
        runs ? 9_437_184_000L : 0,
        runs ? 2 : 0,
        runs ? NOON.minusSeconds(7200) : null,
        runs
            ? List.of(
                "/home/kim/.flotilla/engines/llama-server/bin/llama-server",
                "--model",
                "/home/kim/.flotilla/models/Qwen3-14B Q4_K_M.gguf",
                "--alias",
                model,
                "--host",
                "127.0.0.1",
                "--port",
                "41877",
                "--ctx-size",
                "131072",
                "--parallel",
                "4",
                "--jinja",
                "--reasoning-format",
                "deepseek",
                "--threads",
                "8",
                "--no-webui")
            : List.of(),
        state == State.DRAINING ? "kim" : "",
        state == State.SERVING ? "94.1 tok/s alone" : "");
  }

  private static NodeView node(
      String name,
      String os,
      String version,
      String arch,
      String cpu,
      int cores,
      long totalGib,
      long freeGib,
      String gpu) {
    return new NodeView(
        name,
        true,
        12,
        "0.1.0",
        new NodeFacts(
            name + ".local",
            os,
            version,
            arch,
            false,
            cpu,
            cores,
            cores,
            totalGib << 30,
            freeGib << 30,
            1.5,
            List.of(new NodeFacts.Accelerator("other", gpu, 24L << 30, -1)),
            List.of()),
        NOON,
        8,
        4,
        2,
        false,
        "");
  }

  static Target target(String name, Target.Kind kind) {
    return new Target(
        name,
        kind,
        "qwen3-14b",
        "Qwen/Qwen3-14B",
        kind == Target.Kind.WORKER ? "llama-server" : "backend",
        "",
        1,
        32_768,
        0,
        8,
        true,
        Target.Capability.BOTH,
        null,
        "sk-hidden",
        "127.0.0.1",
        "",
        new Dialer() {
          @Override
          public Lease dial(boolean fresh, Duration limit) throws IOException {
            throw new IOException("this fleet is on paper");
          }
        });
  }

  static Event event(long id, Severity severity, String kind, String subject, String message) {
    return new Event(id, NOON.plusSeconds(id), severity, kind, subject, message);
  }

  static Map<String, FleetSnapshot.Name> names(FleetSnapshot.Name... names) {
    Map<String, FleetSnapshot.Name> byName = new LinkedHashMap<>();
    for (FleetSnapshot.Name name : names) {
      byName.put(name.name(), name);
    }
    return byName;
  }

  /** Replaces the worker of that name by one in another state, as the fleet does, and tells it. */
  void turn(String name, State state, String reason) {
    List<WorkerView> changed = new ArrayList<>();
    for (WorkerView worker : workers) {
      changed.add(
          worker.name().equals(name)
              ? worker(name, worker.node(), state, reason, worker.gpu())
              : worker);
    }
    workers = List.copyOf(changed);
    tell();
  }

  void tell() {
    listeners.forEach(Runnable::run);
  }

  @Override
  public List<WorkerView> workers() {
    return workers;
  }

  @Override
  public List<NodeView> nodes() {
    return nodes;
  }

  @Override
  public List<TargetLoad> loads() {
    return loads;
  }

  @Override
  public FleetSnapshot fleet() {
    return fleet;
  }

  @Override
  public List<Event> events(int count) {
    return events.stream().limit(count).toList();
  }

  @Override
  public List<Progress> progress() {
    return progress;
  }

  @Override
  public List<ProofRecord> proofs() {
    return proofs;
  }

  @Override
  public List<Report> reports(int count) {
    return reports.stream().limit(count).toList();
  }

  @Override
  public List<Notice> banner() {
    return banner;
  }

  @Override
  public void onChange(Runnable listener) {
    listeners.add(listener);
  }
}
