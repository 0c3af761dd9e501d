package dev.flotilla.hub.fleet;

import static dev.flotilla.hub.fleet.Fleets.GIB;
import static dev.flotilla.hub.fleet.Fleets.machine;
import static dev.flotilla.hub.fleet.Fleets.model;
import static dev.flotilla.hub.fleet.Fleets.recipe;
import static dev.flotilla.hub.fleet.Fleets.spec;
import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.hub.fleet.Placement.Barred;
import dev.flotilla.hub.fleet.Placement.Held;
import dev.flotilla.hub.fleet.Placement.Presence;
import dev.flotilla.hub.fleet.Placement.Site;
import dev.flotilla.hub.fleet.Placement.Standing;
import dev.flotilla.hub.spec.FleetSpec;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Placement in random fleets to which random things happen. */
class PlacementModelTest {
  private static final int STEPS = 400;

  private final Map<String, Site> sites = new LinkedHashMap<>();
  private final Map<String, Held> held = new LinkedHashMap<>();
  private final Set<Barred> barred = new HashSet<>();
  private final Set<Barred> declined = new HashSet<>();
  private FleetSpec spec = spec();
  private long orders;

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
  void neverMoreThanOneOverNeverTwoOfANameAndStableWhenNothingChanges(long seed) {
    Random random = new Random(seed);
    spec = randomSpec(random);
    for (int step = 0; step < STEPS; step++) {
      happen(random);
      Map<String, Long> before = counted();
      carryOut(planNow());
      check(seed, step, before);
      for (int again = 0; !carryOut(planNow()); again++) {
        assertThat(again).as("seed %d step %d: it settles", seed, step).isLessThan(8);
      }
      assertThat(planNow().isEmpty()).as("seed %d step %d: stable", seed, step).isTrue();
    }
  }

  private Placement.Plan planNow() {
    return Placement.plan(
        spec, List.copyOf(sites.values()), List.copyOf(held.values()), barred, declined);
  }

  /** Answers whether there was nothing to do. */
  private boolean carryOut(Placement.Plan plan) {
    for (Placement.Departure departure : plan.departures()) {
      Held leaving = held.get(departure.worker());
      Assertions.assertNotNull(leaving, departure.worker());
      assertThat(leaving.leaving()).as("leaves once").isFalse();
      held.put(departure.worker(), with(leaving, leaving.standing(), true));
    }
    for (Placement.Addition addition : plan.additions()) {
      Site site = sites.get(addition.node());
      Assertions.assertNotNull(site);
      assertThat(site.presence()).isEqualTo(Presence.CONNECTED);
      assertThat(site.drained()).isFalse();
      assertThat(barred).doesNotContain(new Barred(addition.spec().model(), addition.node()));
      assertThat(addition.spec().id()).startsWith(addition.node() + "/");
      Held before =
          held.put(
              addition.spec().id(),
              new Held(addition.spec(), addition.node(), Standing.STARTING, false, 0, orders++));
      assertThat(before).as("two workers of the name %s", addition.spec().id()).isNull();
    }
    return plan.isEmpty();
  }

  private void check(long seed, int step, Map<String, Long> before) {
    Map<String, Long> now = counted();
    for (FleetSpec.Model model : spec.models()) {
      long count = now.getOrDefault(model.name(), 0L);
      assertThat(count)
          .as("seed %d step %d: workers of %s", seed, step, model.name())
          .isLessThanOrEqualTo(
              Math.max(model.replicas() + 1L, before.getOrDefault(model.name(), 0L)));
    }
    for (String name : now.keySet()) {
      assertThat(spec.models()).extracting(FleetSpec.Model::name).contains(name);
    }
  }

  /** Workers that stay, on nodes that are not gone, by model. */
  private Map<String, Long> counted() {
    Map<String, Long> counts = new HashMap<>();
    for (Held worker : held.values()) {
      Site site = sites.get(worker.node());
      if (!worker.leaving() && site != null && site.presence() != Presence.GONE) {
        counts.merge(worker.spec().model(), 1L, Long::sum);
      }
    }
    return counts;
  }

  private void happen(Random random) {
    switch (random.nextInt(8)) {
      case 0 -> {
        spec = randomSpec(random);
        declined.clear();
      }
      case 1, 2 -> {
        String name = "n" + random.nextInt(4);
        sites.put(
            name,
            new Site(
                name,
                Optional.of(
                    machine(
                        random.nextBoolean() ? "linux" : "macos", "x86_64", random.nextInt(32))),
                List.of(Presence.values()).get(random.nextInt(3)),
                random.nextInt(4) == 0));
      }
      case 3 -> held.values().removeIf(Held::leaving);
      case 4 -> barred.clear();
      default -> {
        for (Held worker : List.copyOf(held.values())) {
          if (random.nextInt(2) == 0) {
            Standing standing =
                List.of(Standing.values()).get(random.nextInt(Standing.values().length));
            held.put(worker.spec().id(), with(worker, standing, worker.leaving()));
            if (standing.isRefused()) {
              barred.add(new Barred(worker.spec().model(), worker.node()));
              declined.add(new Barred(worker.spec().model(), worker.node()));
            }
          }
        }
      }
    }
  }

  private static Held with(Held worker, Standing standing, boolean leaving) {
    return new Held(
        worker.spec(),
        worker.node(),
        standing,
        leaving,
        standing == Standing.SERVING ? 2 * GIB : worker.residentBytes(),
        worker.order());
  }

  private static FleetSpec randomSpec(Random random) {
    List<FleetSpec.Model> models = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      if (random.nextInt(4) > 0) {
        FleetSpec.When when =
            random.nextInt(3) == 0
                ? new FleetSpec.When(List.of("macos"), List.of(), List.of(), List.of())
                : FleetSpec.When.ANYWHERE;
        models.add(
            model("m" + i, 1 + random.nextInt(5), recipe(when, "/models/" + random.nextInt(2))));
      }
    }
    return spec(models.toArray(FleetSpec.Model[]::new));
  }
}
