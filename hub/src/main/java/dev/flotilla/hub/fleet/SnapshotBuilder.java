package dev.flotilla.hub.fleet;

import dev.flotilla.hub.fleet.WorkerView.State;
import dev.flotilla.hub.lanes.WorkLanes;
import dev.flotilla.hub.routing.Dialer;
import dev.flotilla.hub.routing.FleetSnapshot;
import dev.flotilla.hub.routing.Target;
import dev.flotilla.hub.spec.FleetSpec;
import dev.flotilla.shape.dialect.Promise;
import dev.flotilla.shape.dialect.Sampling;
import dev.flotilla.wire.fleet.WorkerReport;
import dev.flotilla.wire.text.Counted;
import java.net.URI;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Makes what the gateway sees out of what the fleet knows. Keeps the backends' dialers, which hold
 * connections, for as long as a backend stays the same. Guarded by the fleet's lock.
 */
final class SnapshotBuilder {
  private final WorkLanes lanes;
  private final Function<FleetSpec.Backend, Dialer> backendDialers;
  private final Function<String, Optional<String>> environment;
  private final FleetEvents events;

  private final Map<String, Instant> created = new HashMap<>();
  private final Map<String, Target> backends = new HashMap<>();

  /** What was heard of the backends that have a target. */
  private final Map<String, BackendView> heard = new HashMap<>();

  /** Of these, the names of those that did not answer; read by any thread, with each request. */
  private volatile Set<String> unreachable = Set.of();

  private FleetSpec spec = new FleetSpec(List.of(), List.of(), List.of(), FleetSpec.Limits.DEFAULT);

  /** By model; not part of how a worker was started, so a change holds from the next request on. */
  private final Map<String, Sampling> samplings = new HashMap<>();

  private long revision;

  SnapshotBuilder(
      WorkLanes lanes,
      Function<FleetSpec.Backend, Dialer> backendDialers,
      Function<String, Optional<String>> environment,
      FleetEvents events) {
    this.lanes = lanes;
    this.backendDialers = backendDialers;
    this.environment = environment;
    this.events = events;
  }

  void apply(FleetSpec next, long nextRevision, Instant at) {
    Map<String, FleetSpec.Backend> before = new HashMap<>();
    spec.backends().forEach(backend -> before.put(backend.name(), backend));
    heard.keySet().retainAll(next.backends().stream().map(FleetSpec.Backend::name).toList());
    backends.keySet().retainAll(next.backends().stream().map(FleetSpec.Backend::name).toList());
    for (FleetSpec.Backend backend : next.backends()) {
      if (!backend.equals(before.get(backend.name())) || !backends.containsKey(backend.name())) {
        backends.remove(backend.name());
        heard.remove(backend.name());
        backendTarget(backend).ifPresent(target -> backends.put(backend.name(), target));
      }
    }
    lookForUnreachable();
    spec = next;
    samplings.clear();
    next.models().forEach(model -> samplings.put(model.name(), model.promise().sampling()));
    revision = nextRevision;
    List<String> names = new ArrayList<>();
    next.models().forEach(model -> names.add(model.name()));
    next.routes().forEach(route -> names.addAll(route.models()));
    created.keySet().retainAll(names);
    names.forEach(name -> created.putIfAbsent(name, at));
  }

  /** Targets of the backends, those that are not reachable included. */
  List<Target> backendTargets() {
    return List.copyOf(backends.values());
  }

  /**
   * What a backend answered; false where that is no news, or it is another backend by now.
   *
   * @param trouble why it can't be used, empty where it can
   */
  boolean backendHeard(Target target, String trouble, Instant at) {
    Target now = backends.get(target.name());
    if (now == null || !now.dialer().equals(target.dialer())) {
      return false;
    }
    BackendView before = backendView(target.name());
    BackendView.State state =
        trouble.isEmpty() ? BackendView.State.REACHABLE : BackendView.State.UNREACHABLE;
    if (before.state() == state && before.reason().equals(trouble)) {
      return false;
    }
    Instant since = before.state() == state && before.since() != null ? before.since() : at;
    heard.put(target.name(), new BackendView(target.name(), state, trouble, since));
    backends.put(target.name(), now.admitting(trouble.isEmpty()));
    lookForUnreachable();
    if (before.state() != state) {
      events.backendHeard(target.name(), before.state(), trouble);
    }
    return true;
  }

  private void lookForUnreachable() {
    unreachable =
        heard.values().stream()
            .filter(view -> view.state() == BackendView.State.UNREACHABLE)
            .map(BackendView::name)
            .collect(Collectors.toUnmodifiableSet());
  }

  /** Needs no lock. */
  boolean isUnreachable(String backend) {
    return unreachable.contains(backend);
  }

  List<BackendView> backendViews() {
    return spec.backends().stream().map(backend -> backendView(backend.name())).toList();
  }

  private BackendView backendView(String name) {
    BackendView view = heard.get(name);
    return view != null
        ? view
        : new BackendView(
            name,
            backends.containsKey(name) ? BackendView.State.UNKNOWN : BackendView.State.WITHOUT_KEY,
            backends.containsKey(name) ? "" : "its key is not in the hub's environment",
            null);
  }

  FleetSnapshot build(Collection<FleetNode> nodes, Progress progress) {
    Map<String, List<FleetWorker>> byModel = new HashMap<>();
    for (FleetNode node : nodes) {
      for (FleetWorker worker : node.workers.values()) {
        byModel.computeIfAbsent(worker.spec.model(), _ -> new ArrayList<>()).add(worker);
      }
    }
    Map<String, FleetSnapshot.Name> names = new LinkedHashMap<>();
    for (FleetSpec.Model model : spec.models()) {
      List<FleetWorker> workers = byModel.getOrDefault(model.name(), List.of());
      names.put(
          model.name(),
          new FleetSnapshot.Name(
              model.name(),
              createdAt(model.name()),
              model.promise().contextTokens(),
              targets(workers),
              coming(workers),
              explain(model.name(), workers, nodes, progress)));
    }
    for (FleetSpec.Route route : spec.routes()) {
      for (String name : route.models()) {
        names.put(name, routed(name, route, byModel, nodes, progress));
      }
    }
    return new FleetSnapshot(revision, names, onMachines(nodes, names.values()));
  }

  /** By node, the ledger's keys of what its machine runs, be it for this agent or another. */
  private static Map<String, Set<String>> onMachines(
      Collection<FleetNode> nodes, Collection<FleetSnapshot.Name> names) {
    Map<String, Set<String>> byNode = new HashMap<>();
    for (FleetSnapshot.Name name : names) {
      for (Target target : name.targets()) {
        byNode.computeIfAbsent(target.node(), _ -> new HashSet<>()).add(target.ledgerKey());
      }
    }
    Map<String, Set<String>> onMachines = new HashMap<>();
    for (FleetNode node : nodes) {
      Set<String> keys = new HashSet<>();
      for (FleetNode other : nodes) {
        if (node.sharesMachineWith(other)) {
          keys.addAll(byNode.getOrDefault(other.name, Set.of()));
        }
      }
      onMachines.put(node.name, keys);
    }
    return onMachines;
  }

  private FleetSnapshot.Name routed(
      String name,
      FleetSpec.Route route,
      Map<String, List<FleetWorker>> byModel,
      Collection<FleetNode> nodes,
      Progress progress) {
    List<Target> targets = new ArrayList<>();
    List<String> why = new ArrayList<>();
    Optional<Promise> promised = promise(route);
    int coming = 0;
    for (FleetSpec.Destination to : route.to()) {
      switch (to) {
        case FleetSpec.Destination.ToModel model -> {
          List<FleetWorker> workers = byModel.getOrDefault(model.name(), List.of());
          targets.addAll(targets(workers));
          coming += coming(workers);
          why.add(explain(model.name(), workers, nodes, progress));
        }
        case FleetSpec.Destination.ToBackend backend -> {
          Target target = backends.get(backend.name());
          if (target == null) {
            why.add("backend " + backend.name() + ": its key is not in the hub's environment");
          } else {
            targets.add(promised.map(target::promising).orElse(target));
            BackendView view = backendView(backend.name());
            if (view.state() == BackendView.State.UNREACHABLE) {
              why.add("backend " + backend.name() + " is unreachable (" + view.reason() + ")");
            } else {
              why.add("backend " + backend.name() + " is asked");
            }
          }
        }
      }
    }
    return new FleetSnapshot.Name(
        name, createdAt(name), 0, targets, coming, name + " is a route: " + String.join("; ", why));
  }

  /** What the route's models promise, where all of them promise the same. */
  private Optional<Promise> promise(FleetSpec.Route route) {
    List<Promise> promises =
        spec.models().stream()
            .filter(model -> route.to().contains(new FleetSpec.Destination.ToModel(model.name())))
            .map(model ->
                new Promise(
                    model.promise().reasoning(),
                    model.promise().tools(),
                    model.promise().sampling()))
            .distinct()
            .toList();
    return promises.size() == 1 ? Optional.of(promises.getFirst()) : Optional.empty();
  }

  private long createdAt(String name) {
    Instant at = created.get(name);
    return at == null ? 0 : at.getEpochSecond();
  }

  private List<Target> targets(List<FleetWorker> workers) {
    List<Target> targets = new ArrayList<>();
    for (FleetWorker worker : workers) {
      WorkerReport report = worker.report;
      if (report != null
          && (worker.state == State.SERVING
              || worker.state == State.SUSPECT
              || worker.state == State.DRAINING)) {
        targets.add(target(worker, report));
      }
    }
    return targets;
  }

  Target target(FleetWorker worker, WorkerReport report) {
    Dialer dialer = worker.dialer;
    if (dialer == null) {
      dialer = lanes.pool(worker.node.name).dialer(worker.id(), report.generation());
      worker.dialer = dialer;
    }
    return new Target(
        worker.id(),
        Target.Kind.WORKER,
        worker.spec.model(),
        worker.spec.model(),
        worker.spec.engine(),
        worker.node.name,
        report.generation(),
        report.contextTokens() > 0 ? report.contextTokens() : worker.spec.contextTokens(),
        report.longestTokenBytes(),
        worker.slots(report.slots() > 0 ? report.slots() : worker.spec.slots()),
        worker.state == State.SERVING,
        worker.spec.embeddings() ? Target.Capability.EMBEDDINGS : Target.Capability.TEXT,
        new Promise(
            worker.spec.reasoning(),
            worker.spec.tools(),
            samplings.getOrDefault(worker.spec.model(), Sampling.DEFAULTS)),
        report.apiKey().isEmpty() ? null : report.apiKey(),
        "127.0.0.1:" + report.port(),
        "",
        dialer);
  }

  private Optional<Target> backendTarget(FleetSpec.Backend backend) {
    Optional<String> key = backend.keyVariable().flatMap(environment);
    if (backend.keyVariable().isPresent() && key.isEmpty()) {
      events.backendKeyMissing(backend.name(), backend.keyVariable().get());
      return Optional.empty();
    }
    URI url = backend.url();
    String path = url.getRawPath() == null ? "" : url.getRawPath();
    path = path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
    path = path.endsWith("/v1") ? path.substring(0, path.length() - 3) : path;
    return Optional.of(
        new Target(
            backend.name(),
            Target.Kind.BACKEND,
            backend.model(),
            backend.model(),
            "backend",
            "",
            0,
            0,
            0,
            backend.slots(),
            true,
            Target.Capability.BOTH,
            null,
            key.orElse(null),
            url.getRawAuthority() == null ? "" : url.getRawAuthority(),
            path,
            backendDialers.apply(backend)));
  }

  private static int coming(List<FleetWorker> workers) {
    return (int) workers.stream().filter(FleetWorker::isComing).count();
  }

  /** Why nobody serves a name, in one sentence without its end. */
  private static String explain(
      String name, List<FleetWorker> workers, Collection<FleetNode> nodes, Progress progress) {
    if (workers.isEmpty()) {
      return name + ": " + whyUnplaced(nodes);
    }
    Map<State, List<FleetWorker>> byState = new EnumMap<>(State.class);
    workers.forEach(w -> byState.computeIfAbsent(w.state, _ -> new ArrayList<>()).add(w));
    List<String> parts = new ArrayList<>();
    byState.forEach((state, those) -> {
      String why = detail(those.getFirst(), progress);
      parts.add(
          Counted.of(those.size(), "worker")
              + " "
              + word(state, those)
              + (why.isEmpty() ? "" : " (" + why + ")"));
    });
    return name + ": " + String.join(", ", parts);
  }

  private static String whyUnplaced(Collection<FleetNode> nodes) {
    if (nodes.isEmpty()) {
      return "no worker is placed, no node has joined";
    }
    if (nodes.stream().noneMatch(FleetNode::isConnected)) {
      return "no worker is placed, no node is connected";
    }
    if (nodes.stream().allMatch(node -> !node.isConnected() || !node.drainedBy.isEmpty())) {
      return "no worker is placed, every connected node is drained";
    }
    return "no worker is placed, no connected node meets a recipe's condition or all refused it";
  }

  private static String detail(FleetWorker worker, Progress progress) {
    if (worker.state == State.STARTING) {
      return progress.of(worker).orElse(worker.reason);
    }
    int seconds = worker.isLeaving() ? 0 : worker.node.replacedInSeconds;
    return seconds == 0
        ? worker.reason
        : worker.reason + "; replaced in " + seconds + " s where another node can take it";
  }

  private static String word(State state, List<FleetWorker> those) {
    boolean one = those.size() == 1;
    String is = one ? "is " : "are ";
    return switch (state) {
      case STARTING -> is + "starting";
      case PROVING -> is + "being proved";
      case SERVING -> one ? "serves" : "serve";
      case DRAINING -> is + "draining";
      case REFUSED -> those.getFirst().fellShort() ? is + "refused" : "can't be started";
      case SUSPECT -> is + "out of contact";
      case LOST -> is + "lost";
      case STOPPED -> is + "stopped";
    };
  }
}
