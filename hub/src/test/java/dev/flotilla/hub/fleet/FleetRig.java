package dev.flotilla.hub.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.hub.lanes.AgentDesk.Admission;
import dev.flotilla.hub.lanes.AgentLink;
import dev.flotilla.hub.lanes.LaneLimits;
import dev.flotilla.hub.lanes.WorkLanes;
import dev.flotilla.hub.routing.Dialer;
import dev.flotilla.hub.spec.FleetSpec;
import dev.flotilla.hub.store.FleetMemory;
import dev.flotilla.hub.store.FleetMemory.RememberedNode;
import dev.flotilla.hub.store.Journal;
import dev.flotilla.hub.store.Usage;
import dev.flotilla.wire.fleet.NodeFacts;
import dev.flotilla.wire.fleet.WorkerReport;
import dev.flotilla.wire.fleet.WorkerSpec;
import dev.flotilla.wire.lanes.ControlMessage;
import dev.flotilla.wire.lanes.ControlMessage.Severity;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * A fleet on a clock that tests move, with agents that are told what to say. Everything happens on
 * the test's own thread.
 */
final class FleetRig implements Journal, FleetMemory {
  static final Instant BEGIN = Instant.parse("2026-03-01T12:00:00Z");

  final List<String> events = new CopyOnWriteArrayList<>();
  final Map<String, Integer> inFlight = new ConcurrentHashMap<>();
  final Map<String, String> environment = new ConcurrentHashMap<>();
  final Map<String, RememberedNode> remembered = new LinkedHashMap<>();
  final WorkLanes lanes;
  Fleet fleet;

  /** Whether whoever is ready is taken to be what its model promises, so that it serves. */
  boolean provesAtOnce = true;

  private Duration elapsed = Duration.ZERO;

  FleetRig() {
    lanes = new WorkLanes(LaneLimits.DEFAULT, this::nanos);
    fleet = newFleet();
  }

  /** The hub's process ends and starts again: only what is remembered is left. */
  void restartHub() {
    events.clear();
    fleet = newFleet();
  }

  private Fleet newFleet() {
    Fleet next = newFleetThatProvesNothing();
    next.onChange(() -> {
      if (provesAtOnce) {
        proveAll();
      }
    });
    return next;
  }

  /** Every launch that waits for its proof passes it. */
  void proveAll() {
    for (ProofCandidate candidate : fleet.proofCandidates()) {
      fleet.proved(candidate, new ProofVerdict.Passed(0, ""));
    }
  }

  private Fleet newFleetThatProvesNothing() {
    return new Fleet(
        "hub-1",
        lanes,
        this,
        this,
        _ -> FleetRig::noDial,
        name -> Optional.ofNullable(environment.get(name)),
        key -> inFlight.getOrDefault(key, 0),
        FleetLimits.DEFAULT,
        () -> BEGIN.plus(elapsed),
        this::nanos);
  }

  private static Dialer.Lease noDial(boolean fresh, Duration limit) throws IOException {
    throw new IOException("no backend in this test");
  }

  private long nanos() {
    return elapsed.toNanos();
  }

  void apply(long revision, FleetSpec.Model... models) {
    fleet.apply(Fleets.spec(models), revision, BEGIN);
    fleet.checkInvariants();
  }

  /** Time passes, in which the agents are heard as often as they should. */
  void pass(Duration time, Agent... alive) {
    Duration step = Duration.ofMillis(500);
    for (Duration done = Duration.ZERO; done.compareTo(time) < 0; done = done.plus(step)) {
      elapsed = elapsed.plus(step);
      for (Agent agent : alive) {
        agent.heartbeat();
      }
      fleet.tick();
      fleet.checkInvariants();
    }
  }

  WorkerView worker(String name) {
    return fleet.worker(name).orElseThrow(() -> new AssertionError("no worker " + name));
  }

  WorkerView.State state(String name) {
    return worker(name).state();
  }

  List<String> kinds() {
    return events.stream().map(event -> event.substring(0, event.indexOf(' '))).toList();
  }

  String event(String kind) {
    List<String> found = events.stream().filter(event -> event.startsWith(kind + " ")).toList();
    assertThat(found).as("events %s", events).isNotEmpty();
    return found.getLast();
  }

  @Override
  public void usage(Usage usage) {}

  @Override
  public void event(Severity severity, String kind, String subject, String message) {
    events.add(kind + " " + subject + ": " + message);
  }

  @Override
  public List<RememberedNode> nodes() {
    return List.copyOf(remembered.values());
  }

  @Override
  public void save(RememberedNode node) {
    remembered.put(node.name(), node);
  }

  Agent agent(String node) {
    return new Agent(node, "id-of-" + node, 1, 16);
  }

  /** An agent at the other end of a control lane. */
  final class Agent implements AgentLink {
    final String node;
    final String id;
    final List<ControlMessage.FromHub> told = new ArrayList<>();
    final Map<String, WorkerReport> workers = new LinkedHashMap<>();
    long generation;
    NodeFacts facts;
    String cut = "";
    String version = "0.1";

    Agent(String node, String id, long generation, long freeGib) {
      this.node = node;
      this.id = id;
      this.generation = generation;
      this.facts = Fleets.machine(freeGib);
    }

    /** The same agent on a new connection. */
    Agent again() {
      Agent next = new Agent(node, id, generation, 16);
      next.facts = facts;
      next.version = version;
      next.workers.putAll(workers);
      return next;
    }

    Agent joins() {
      assertThat(dials()).as("refused").isNull();
      return this;
    }

    ControlMessage.@Nullable Refusal dials() {
      ControlMessage.Hello hello =
          new ControlMessage.Hello(
              node, id, generation, version, facts, List.copyOf(workers.values()));
      return switch (fleet.hello(this, id, hello)) {
        case Admission.Refused refused -> refused.refusal();
        case Admission.Admitted admitted -> {
          told.add(admitted.welcome());
          admitted.then().run();
          fleet.checkInvariants();
          yield null;
        }
      };
    }

    void says(ControlMessage.FromAgent message) {
      fleet.said(this, message);
      fleet.checkInvariants();
    }

    void heartbeat() {
      says(new ControlMessage.Heartbeat(facts, List.copyOf(workers.values()), List.of()));
    }

    /** Its process ends, and the next one begins with no worker; it runs that version. */
    Agent startsAnew(String version) {
      Agent next = new Agent(node, id, generation + 1, 16);
      next.version = version;
      return next;
    }

    /** What it says of one worker from now on. */
    void reports(WorkerReport report) {
      workers.put(report.id(), report);
      says(new ControlMessage.WorkerChanged(report));
    }

    void ready(String worker, long launch) {
      reports(Fleets.report(worker, launch, WorkerReport.Phase.READY, 40_000));
    }

    void breaks() {
      fleet.ended(this, "connection reset");
      fleet.checkInvariants();
    }

    /** The workers that the hub wants it to run, as told last. */
    List<String> desired() {
      return told.stream()
          .filter(ControlMessage.Desired.class::isInstance)
          .map(ControlMessage.Desired.class::cast)
          .reduce((_, last) -> last)
          .map(desired -> desired.workers().stream().map(WorkerSpec::id).toList())
          .orElse(List.of());
    }

    /** Stops what is not desired and forgets it, as an agent does. */
    void obeys() {
      workers.keySet().retainAll(desired());
      heartbeat();
    }

    @Override
    public String node() {
      return node;
    }

    @Override
    public void send(ControlMessage.FromHub message) {
      told.add(message);
    }

    @Override
    public void cut(String why) {
      cut = why;
    }
  }
}
