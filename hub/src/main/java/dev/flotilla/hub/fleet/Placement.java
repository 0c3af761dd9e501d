package dev.flotilla.hub.fleet;

import dev.flotilla.hub.spec.FleetSpec;
import dev.flotilla.wire.fleet.NodeFacts;
import dev.flotilla.wire.fleet.WorkerSpec;
import dev.flotilla.wire.text.Names;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Decides which workers are to be where. Pure: the same input gives the same plan, and a plan that
 * was carried out is followed by an empty one.
 *
 * <p><b>Keep.</b> A worker that is still as the configuration asks stays where it is. One on a node
 * that is away counts as there until the node is gone; one on a node that is gone counts for
 * nothing, but is not forgotten: should the node come back, its worker counts again.
 *
 * <p><b>Grow.</b> New workers go to connected nodes that are not drained, one recipe's condition
 * holds there, and that did not refuse the model lately. The node with the most free memory is
 * taken, less what workers that are still starting will take. While nobody knows what the model
 * takes, workers are spread evenly.
 *
 * <p><b>Shrink.</b> Refused ones go first, then drained ones, those on nodes that are away, those
 * that start, and of the serving ones the youngest of the node that has the most of them.
 *
 * <p><b>Spread.</b> A node that joins gets a worker where another has more than one: where all
 * workers of the model serve, and the node that a further one would go to has none, has room for
 * one, and did not refuse one since it joined, one is started there beyond what is asked for; when
 * it serves, the crowded node's youngest leaves (Shrink). So there are never fewer serving, and a
 * fleet in which every node has one, or the fullest machine has the most memory free, is left
 * alone.
 *
 * <p><b>Change.</b> Workers of an earlier configuration are replaced one by one: a new one is
 * started while the old serve, and an old one leaves for each new one that serves. So there is one
 * worker more than wanted for a while, and never fewer serving. Where memory has no room for one
 * more, an old one leaves first. A new one that is refused for anything else (an option, a policy,
 * a file, its proof) drives nobody out: the old serve on until the configuration is mended.
 *
 * <p><b>Refused.</b> A worker that its node refused is placed on another node, where one is left
 * that did not refuse it lately; else it stays, and the agent tries again by itself.
 */
final class Placement {
  /** Share of a node's free memory that is counted on when asking whether one more fits. */
  private static final double USABLE = 0.75;

  private static final int SERVING_RANK = 4;

  /** Whether a node is there. */
  enum Presence {
    CONNECTED,
    /** Silent, or its connection is lost, for less than the grace. */
    AWAY,
    /** Away for longer. */
    GONE
  }

  record Site(String name, Optional<NodeFacts> facts, Presence presence, boolean drained) {}

  /** Where a placed worker stands. */
  enum Standing {
    STARTING,
    SERVING,
    DRAINED,
    /** Its node refuses to start it, or its proof refused it. */
    REFUSED,
    /** Its node refuses to start it for want of memory alone. */
    NO_ROOM;

    boolean isRefused() {
      return this == REFUSED || this == NO_ROOM;
    }
  }

  /**
   * A worker that was placed.
   *
   * @param leaving whether it was told to leave: it counts for nothing, but holds its name and
   *     memory
   * @param residentBytes what its process takes, 0 where unknown
   * @param order grows with each placement: the youngest has the highest
   */
  record Held(
      WorkerSpec spec,
      String node,
      Standing standing,
      boolean leaving,
      long residentBytes,
      long order) {}

  /** A model that a node refused lately. */
  record Barred(String model, String node) {}

  record Addition(WorkerSpec spec, String node) {}

  /**
   * A worker that is to leave.
   *
   * @param why the end of a sentence that begins with "it is stopped because"
   * @param reason whether there is any hurry
   */
  record Departure(String worker, String why, Reason reason) {}

  /** Whether somebody waits for a departure. */
  enum Reason {
    /** The configuration asks for something else, or another node may do better. */
    ASKED,
    /** There is one more than needed, as the fleet turned out: nothing that runs need be cut. */
    SURPLUS
  }

  record Plan(List<Addition> additions, List<Departure> departures) {
    Plan {
      additions = List.copyOf(additions);
      departures = List.copyOf(departures);
    }

    boolean isEmpty() {
      return additions.isEmpty() && departures.isEmpty();
    }
  }

  private final List<Site> sites;
  private final Map<String, Site> siteByName = new HashMap<>();
  private final List<Held> held;
  private final Set<Barred> barred;
  private final Set<Barred> declined;
  private final Set<String> names = new HashSet<>();
  private final List<Addition> additions = new ArrayList<>();
  private final List<Departure> departures = new ArrayList<>();

  private Placement(List<Site> sites, List<Held> held, Set<Barred> barred, Set<Barred> declined) {
    this.sites = sites;
    this.held = held;
    this.barred = barred;
    this.declined = declined;
    sites.forEach(site -> siteByName.put(site.name(), site));
    held.forEach(worker -> names.add(worker.spec().id()));
  }

  /**
   * @param barred what is not tried now
   * @param declined what a node refused since it joined: not to be tried where nothing is missing
   */
  static Plan plan(
      FleetSpec spec, List<Site> sites, List<Held> held, Set<Barred> barred, Set<Barred> declined) {
    Placement placement = new Placement(sites, held, barred, declined);
    Set<String> models = new HashSet<>();
    for (FleetSpec.Model model : spec.models()) {
      models.add(model.name());
      placement.planModel(model);
    }
    for (Held worker : held) {
      if (!worker.leaving() && !models.contains(worker.spec().model())) {
        placement.depart(worker, "the configuration does not name its model any more");
      }
    }
    return new Plan(placement.additions, placement.departures);
  }

  private void planModel(FleetSpec.Model model) {
    List<Held> current = new ArrayList<>();
    List<Held> outdated = new ArrayList<>();
    for (Held worker : held) {
      if (!worker.leaving() && worker.spec().model().equals(model.name())) {
        boolean fits = Recipes.fits(worker.spec(), model, worker.node(), site(worker).facts());
        if (presence(worker) != Presence.GONE) {
          (fits ? current : outdated).add(worker);
        } else if (!fits) {
          depart(worker, "the configuration asks for something else");
        }
      }
    }
    current.sort(firstToStay());
    outdated.sort(firstToStay());
    int added = moveRefused(model, current);
    if (!outdated.isEmpty()) {
      replace(model, current, outdated, added);
      return;
    }
    int missing = model.replicas() - current.size() - added;
    if (missing > 0) {
      add(model, missing);
    } else if (missing < 0 && !isMoving(model, current)) {
      shrink(model, current, -missing);
    } else if (missing == 0 && added == 0) {
      spread(model, current);
    }
  }

  private void shrink(FleetSpec.Model model, List<Held> current, int surplus) {
    for (int gone = 0; gone < surplus && !current.isEmpty(); gone++) {
      Held last =
          Collections.max(
              current,
              Comparator.comparingInt(this::rank)
                  .reversed()
                  .thenComparingLong(worker -> on(current, worker.node()))
                  .thenComparingLong(Held::order));
      String why = "the configuration asks for " + model.replicas() + " of them";
      if (on(current, last.node()) > 1 && on(current, last.node()) < current.size()) {
        why += ", and node " + last.node() + " has more than one";
      }
      current.remove(last);
      departures.add(new Departure(last.spec().id(), why, Reason.SURPLUS));
    }
  }

  /** Whether the one that is too many is on its way to a node that has none. */
  private boolean isMoving(FleetSpec.Model model, List<Held> current) {
    List<Held> coming =
        current.stream().filter(worker -> worker.standing() == Standing.STARTING).toList();
    return current.size() == model.replicas() + 1
        && coming.size() == 1
        && presence(coming.getFirst()) == Presence.CONNECTED
        && on(current, coming.getFirst().node()) == 1
        && isCrowded(without(current, coming.getFirst()))
        && goOn(without(current, coming.getFirst()));
  }

  /** Starts one more where no worker is, if another node has several. */
  private void spread(FleetSpec.Model model, List<Held> current) {
    boolean still =
        held.stream().noneMatch(w -> w.leaving() && w.spec().model().equals(model.name()));
    if (still && need(model.name()) > 0 && isCrowded(current) && allServe(current)) {
      bestSite(model)
          .filter(site -> on(current, site.name()) == 0 && hasRoom(model, site))
          .filter(site -> !declined.contains(new Barred(model.name(), site.name())))
          .ifPresent(_ -> add(model, 1));
    }
  }

  private static List<Held> without(List<Held> workers, Held one) {
    return workers.stream().filter(worker -> !worker.equals(one)).toList();
  }

  /** Whether a node has several of them. */
  private static boolean isCrowded(List<Held> workers) {
    return workers.stream().anyMatch(worker -> on(workers, worker.node()) > 1);
  }

  /** Whether all serve on nodes that are there: else it is no time to begin a move. */
  private boolean allServe(List<Held> workers) {
    return workers.stream().allMatch(worker -> rank(worker) == SERVING_RANK);
  }

  /** Whether a move that was begun goes on: also where one was drained by hand meanwhile. */
  private boolean goOn(List<Held> workers) {
    return workers.stream()
        .allMatch(worker -> rank(worker) == SERVING_RANK || worker.standing() == Standing.DRAINED);
  }

  private static long on(List<Held> workers, String node) {
    return workers.stream().filter(worker -> worker.node().equals(node)).count();
  }

  private Comparator<Held> firstToStay() {
    return Comparator.comparingInt(this::rank).reversed().thenComparingLong(Held::order);
  }

  private int rank(Held worker) {
    if (worker.standing().isRefused()) {
      return 0;
    }
    if (worker.standing() == Standing.DRAINED || site(worker).drained()) {
      return 1;
    }
    if (presence(worker) != Presence.CONNECTED) {
      return 2;
    }
    return worker.standing() == Standing.STARTING ? 3 : SERVING_RANK;
  }

  /** Places refused workers that are needed elsewhere; answers how many were added. */
  private int moveRefused(FleetSpec.Model model, List<Held> current) {
    int added = 0;
    for (Held worker : List.copyOf(current)) {
      if (current.size() + added <= model.replicas()
          && worker.standing().isRefused()
          && presence(worker) == Presence.CONNECTED
          && bestSite(model).filter(site -> hasRoom(model, site)).isPresent()) {
        current.remove(worker);
        depart(worker, "node " + worker.node() + " refused it and another node may take it");
        added += add(model, 1);
      }
    }
    return added;
  }

  /** One step of the way from workers of an earlier configuration to those of this one. */
  private void replace(FleetSpec.Model model, List<Held> current, List<Held> outdated, int added) {
    for (Held worker : List.copyOf(outdated)) {
      if (worker.standing() == Standing.STARTING || worker.standing().isRefused()) {
        outdated.remove(worker);
        depart(worker, "the configuration asks for something else");
      }
    }
    boolean starting = added > 0 || any(current, Standing.STARTING);
    boolean leaving =
        held.stream().anyMatch(w -> w.leaving() && w.spec().model().equals(model.name()));
    int serving = (int) current.stream().filter(Placement::works).count();
    int stay = Math.max(0, model.replicas() - serving);
    Optional<Site> site = bestSite(model);
    boolean room = site.filter(best -> hasRoom(model, best)).isPresent();
    boolean crowded = any(current, Standing.NO_ROOM) || (site.isPresent() && !room);
    if (crowded && !starting && !leaving) {
      stay = Math.max(0, stay - 1);
    }
    while (outdated.size() > stay) {
      depart(outdated.removeLast(), "a worker of the new configuration takes its place");
    }
    if (room || outdated.isEmpty()) {
      int placed = current.size() + added;
      add(
          model,
          Math.min(model.replicas() - placed, model.replicas() + 1 - placed - outdated.size()));
    }
  }

  private static boolean works(Held worker) {
    return worker.standing() == Standing.SERVING || worker.standing() == Standing.DRAINED;
  }

  private static boolean any(List<Held> workers, Standing standing) {
    return workers.stream().anyMatch(worker -> worker.standing() == standing);
  }

  private void depart(Held worker, String why) {
    departures.add(new Departure(worker.spec().id(), why, Reason.ASKED));
  }

  /** Adds up to {@code count} workers where nodes can be found; answers how many. */
  private int add(FleetSpec.Model model, int count) {
    for (int added = 0; added < count; added++) {
      Optional<Site> site = bestSite(model);
      if (site.isEmpty()) {
        return added;
      }
      String node = site.get().name();
      FleetSpec.Recipe recipe = recipe(model, site.get()).orElseThrow();
      additions.add(
          new Addition(Recipes.workerSpec(freeName(node, model.name()), model, recipe), node));
    }
    return Math.max(0, count);
  }

  private String freeName(String node, String model) {
    int number = 1;
    while (!names.add(Names.worker(node, model, number))) {
      number++;
    }
    return Names.worker(node, model, number);
  }

  private Optional<Site> bestSite(FleetSpec.Model model) {
    Comparator<Site> order =
        Comparator.comparingLong((Site site) -> freeAfter(model, site)).reversed();
    if (need(model.name()) == 0) {
      order =
          Comparator.comparingLong((Site site) -> startingOn(site, model.name()))
              .thenComparing(order);
    }
    return sites.stream()
        .filter(site -> site.presence() == Presence.CONNECTED && !site.drained())
        .filter(site -> !barred.contains(new Barred(model.name(), site.name())))
        .filter(site -> recipe(model, site).isPresent())
        .min(order.thenComparing(Site::name));
  }

  private boolean hasRoom(FleetSpec.Model model, Site site) {
    return freeAfter(model, site) * USABLE >= need(model.name());
  }

  /** Free memory, less what workers that do not run yet will take. */
  private long freeAfter(FleetSpec.Model model, Site site) {
    long free =
        site.facts().isEmpty()
            ? 0
            : recipe(model, site).map(r -> Recipes.freeBytes(r, site.facts().get())).orElse(0L);
    for (Held worker : held) {
      if (worker.node().equals(site.name()) && worker.standing() == Standing.STARTING) {
        free -= Math.max(0, need(worker.spec().model()) - worker.residentBytes());
      }
    }
    for (Addition addition : additions) {
      if (addition.node().equals(site.name())) {
        free -= need(addition.spec().model());
      }
    }
    return free;
  }

  /** What the largest known worker of the model takes, 0 while nobody knows. */
  private long need(String model) {
    return held.stream()
        .filter(worker -> worker.spec().model().equals(model))
        .filter(worker -> worker.standing() != Standing.STARTING)
        .mapToLong(Held::residentBytes)
        .max()
        .orElse(0);
  }

  private long startingOn(Site site, String model) {
    return held.stream()
            .filter(worker -> worker.node().equals(site.name()) && !worker.leaving())
            .filter(worker -> worker.spec().model().equals(model))
            .count()
        + additions.stream()
            .filter(addition -> addition.node().equals(site.name()))
            .filter(addition -> addition.spec().model().equals(model))
            .count();
  }

  private Optional<FleetSpec.Recipe> recipe(FleetSpec.Model model, Site site) {
    return site.facts().flatMap(facts -> Recipes.recipeFor(model, site.name(), facts));
  }

  private Site site(Held worker) {
    Site site = siteByName.get(worker.node());
    return site == null ? new Site(worker.node(), Optional.empty(), Presence.GONE, false) : site;
  }

  private Presence presence(Held worker) {
    return site(worker).presence();
  }
}
