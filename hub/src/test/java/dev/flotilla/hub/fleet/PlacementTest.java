package dev.flotilla.hub.fleet;

import static dev.flotilla.hub.fleet.Fleets.GIB;
import static dev.flotilla.hub.fleet.Fleets.machine;
import static dev.flotilla.hub.fleet.Fleets.model;
import static dev.flotilla.hub.fleet.Fleets.recipe;
import static dev.flotilla.hub.fleet.Fleets.spec;
import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.hub.fleet.Placement.Barred;
import dev.flotilla.hub.fleet.Placement.Held;
import dev.flotilla.hub.fleet.Placement.Plan;
import dev.flotilla.hub.fleet.Placement.Presence;
import dev.flotilla.hub.fleet.Placement.Site;
import dev.flotilla.hub.fleet.Placement.Standing;
import dev.flotilla.hub.spec.FleetSpec;
import dev.flotilla.wire.fleet.NodeFacts;
import dev.flotilla.wire.fleet.WorkerSpec;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PlacementTest {

  private static Site site(String name, long freeGib) {
    return new Site(name, Optional.of(machine(freeGib)), Presence.CONNECTED, false);
  }

  private static Held held(FleetSpec.Model model, String id, Standing standing, long order) {
    WorkerSpec worker = Recipes.workerSpec(id, model, model.recipes().getFirst());
    return new Held(
        worker,
        id.substring(0, id.indexOf('/')),
        standing,
        false,
        standing == Standing.SERVING ? 2 * GIB : 0,
        order);
  }

  private static Plan plan(FleetSpec.Model model, List<Site> sites, Held... held) {
    return Placement.plan(spec(model), sites, List.of(held), Set.of(), Set.of());
  }

  private static List<String> added(Plan plan) {
    return plan.additions().stream().map(addition -> addition.spec().id()).toList();
  }

  private static List<String> departed(Plan plan) {
    return plan.departures().stream().map(Placement.Departure::worker).toList();
  }

  @Test
  void workersOfUnknownNeedAreSpreadEvenly() {
    assertThat(added(plan(model("m", 4), List.of(site("big", 64), site("small", 8)))))
        .containsExactly("big/m-1", "small/m-1", "big/m-2", "small/m-2");
  }

  @Test
  void workersOfKnownNeedGoWhereTheMostMemoryIsLeft() {
    FleetSpec.Model model = model("m", 4);
    Plan plan =
        plan(
            model,
            List.of(site("big", 9), site("small", 6)),
            held(model, "small/m-1", Standing.SERVING, 1));
    assertThat(added(plan)).containsExactly("big/m-1", "big/m-2", "small/m-2");
    assertThat(departed(plan)).isEmpty();
  }

  @Test
  void theFirstRecipeWhoseConditionHoldsOnTheNodeIsUsed() {
    FleetSpec.Recipe mac =
        recipe(
            new FleetSpec.When(List.of("macos"), List.of("arm64"), List.of(), List.of()), "hf:mac");
    FleetSpec.Recipe nvidia =
        recipe(new FleetSpec.When(List.of(), List.of(), List.of("nvidia"), List.of()), "hf:nvidia");
    FleetSpec.Recipe named =
        recipe(new FleetSpec.When(List.of(), List.of(), List.of(), List.of("box")), "hf:box");
    FleetSpec.Model model = model("m", 3, mac, nvidia, named);
    List<Site> sites =
        List.of(
            new Site("a", Optional.of(machine("macos", "aarch64", 8)), Presence.CONNECTED, false),
            new Site(
                "b",
                Optional.of(
                    machine(
                        "linux", "x86_64", 8, new NodeFacts.Accelerator("nvidia", "RTX", 0, -1))),
                Presence.CONNECTED,
                false),
            new Site("box", Optional.of(machine(4)), Presence.CONNECTED, false),
            new Site("other", Optional.of(machine(60)), Presence.CONNECTED, false));
    assertThat(Placement.plan(spec(model), sites, List.of(), Set.of(), Set.of()).additions())
        .extracting(addition -> addition.node() + " " + addition.spec().source())
        .containsExactlyInAnyOrder("a hf:mac", "b hf:nvidia", "box hf:box");
  }

  @Test
  void memoryOfTheAcceleratorThatARecipeAsksForCounts() {
    FleetSpec.Model model =
        model(
            "m",
            1,
            recipe(new FleetSpec.When(List.of(), List.of(), List.of("nvidia"), List.of()), "x"));
    NodeFacts little =
        machine("linux", "x86_64", 60, new NodeFacts.Accelerator("nvidia", "a", 8 * GIB, GIB));
    NodeFacts much =
        machine("linux", "x86_64", 8, new NodeFacts.Accelerator("nvidia", "b", 24 * GIB, 20 * GIB));
    Plan plan =
        plan(
            model,
            List.of(
                new Site("a", Optional.of(little), Presence.CONNECTED, false),
                new Site("b", Optional.of(much), Presence.CONNECTED, false)));
    assertThat(added(plan)).containsExactly("b/m-1");
  }

  @Test
  void whatFitsStaysWhereItIs() {
    FleetSpec.Model model = model("m", 2);
    assertThat(
            plan(
                    model,
                    List.of(site("a", 1), site("b", 60)),
                    held(model, "a/m-1", Standing.SERVING, 1),
                    held(model, "a/m-7", Standing.STARTING, 2))
                .isEmpty())
        .isTrue();
  }

  @Test
  void aNodeThatIsAwayKeepsItsWorkersAndOneThatIsGoneDoesNot() {
    FleetSpec.Model model = model("m", 1);
    Held worker = held(model, "a/m-1", Standing.SERVING, 1);
    Site away = new Site("a", Optional.of(machine(8)), Presence.AWAY, false);
    Site gone = new Site("a", Optional.of(machine(8)), Presence.GONE, false);

    assertThat(plan(model, List.of(away, site("b", 8)), worker).isEmpty()).isTrue();

    Plan elsewhere = plan(model, List.of(gone, site("b", 8)), worker);
    assertThat(added(elsewhere)).containsExactly("b/m-1");
    assertThat(departed(elsewhere)).isEmpty();

    Plan backAgain =
        plan(
            model,
            List.of(site("a", 8), site("b", 8)),
            worker,
            held(model, "b/m-1", Standing.SERVING, 2));
    assertThat(departed(backAgain)).as("the youngest").containsExactly("b/m-1");
  }

  @Test
  void shrinkingLetsRefusedAndDrainedAndStartingOnesGoBeforeTheYoungest() {
    FleetSpec.Model one = model("m", 1);
    Held old = held(one, "a/m-1", Standing.SERVING, 1);
    Held young = held(one, "a/m-2", Standing.SERVING, 2);
    Held starting = held(one, "a/m-3", Standing.STARTING, 0);
    Held drained = held(one, "a/m-4", Standing.DRAINED, 0);
    Held refused = held(one, "a/m-5", Standing.REFUSED, 0);
    Set<Barred> barred = Set.of(new Barred("m", "a"));
    for (int replicas = 5; replicas >= 1; replicas--) {
      Plan plan =
          Placement.plan(
              spec(model("m", replicas)),
              List.of(site("a", 8)),
              List.of(old, young, starting, drained, refused),
              barred,
              Set.of());
      assertThat(departed(plan))
          .containsExactlyElementsOf(
              List.of("a/m-5", "a/m-4", "a/m-3", "a/m-2").subList(0, 5 - replicas));
    }
  }

  @Test
  void aNodeThatJoinsGetsAWorkerOfTheCrowdedOneWhichLeavesWhenTheNewOneServes() {
    FleetSpec.Model model = model("m", 2);
    List<Site> sites = List.of(site("a", 8), site("b", 60));
    Held one = held(model, "a/m-1", Standing.SERVING, 1);
    Held two = held(model, "a/m-2", Standing.SERVING, 2);

    Plan first = plan(model, sites, one, two);
    assertThat(added(first)).containsExactly("b/m-1");
    assertThat(departed(first)).isEmpty();

    assertThat(plan(model, sites, one, two, held(model, "b/m-1", Standing.STARTING, 3)).isEmpty())
        .as("waits for the new one to serve")
        .isTrue();

    Plan second = plan(model, sites, one, two, held(model, "b/m-1", Standing.SERVING, 3));
    assertThat(second.departures())
        .containsExactly(
            new Placement.Departure(
                "a/m-2",
                "the configuration asks for 2 of them, and node a has more than one",
                Placement.Reason.SURPLUS));
    assertThat(added(second)).isEmpty();

    assertThat(plan(model, sites, one, held(model, "b/m-1", Standing.SERVING, 3)).isEmpty())
        .as("and that is all")
        .isTrue();
  }

  @Test
  void nothingMovesWhereTheNewNodeHasNoRoomOrLessMemoryThanTheCrowdedOne() {
    FleetSpec.Model model = model("m", 2);
    Held one = held(model, "a/m-1", Standing.SERVING, 1);
    Held two = held(model, "a/m-2", Standing.SERVING, 2);
    for (List<Site> sites :
        List.of(
            List.of(site("a", 1), site("b", 2)),
            List.of(site("a", 60), site("b", 8)),
            List.of(
                site("a", 8), new Site("b", Optional.of(machine(60)), Presence.CONNECTED, true)),
            List.of(site("a", 8), new Site("b", Optional.of(machine(60)), Presence.AWAY, false)))) {
      assertThat(plan(model, sites, one, two).isEmpty()).as("%s", sites).isTrue();
    }
  }

  @Test
  void nothingMovesWhileAWorkerOfTheModelDoesNotServe() {
    FleetSpec.Model model = model("m", 3);
    for (Standing standing : List.of(Standing.STARTING, Standing.DRAINED)) {
      assertThat(
              plan(
                      model,
                      List.of(site("a", 8), site("b", 60)),
                      held(model, "a/m-1", Standing.SERVING, 1),
                      held(model, "a/m-2", Standing.SERVING, 2),
                      held(model, "a/m-3", standing, 3))
                  .isEmpty())
          .as("%s", standing)
          .isTrue();
    }
  }

  @Test
  void aNodeThatRefusesWhatWasToMoveIsLeftAlone() {
    FleetSpec.Model model = model("m", 2);
    List<Site> sites = List.of(site("a", 8), site("b", 60));
    Held one = held(model, "a/m-1", Standing.SERVING, 1);
    Held two = held(model, "a/m-2", Standing.SERVING, 2);
    Set<Barred> refused = Set.of(new Barred("m", "b"));

    Plan back =
        Placement.plan(
            spec(model),
            sites,
            List.of(one, two, held(model, "b/m-1", Standing.REFUSED, 3)),
            refused,
            refused);
    assertThat(departed(back)).containsExactly("b/m-1");
    assertThat(added(back)).isEmpty();

    assertThat(Placement.plan(spec(model), sites, List.of(one, two), Set.of(), refused).isEmpty())
        .as("also later")
        .isTrue();
  }

  @Test
  void ofTheServingOnesTheFullestNodesYoungestLeavesFirst() {
    FleetSpec.Model model = model("m", 2);
    Plan plan =
        plan(
            model,
            List.of(site("a", 8), site("b", 8)),
            held(model, "a/m-1", Standing.SERVING, 1),
            held(model, "a/m-2", Standing.SERVING, 2),
            held(model, "a/m-3", Standing.SERVING, 3),
            held(model, "b/m-1", Standing.SERVING, 4));
    assertThat(departed(plan)).containsExactly("a/m-3", "a/m-2");
  }

  @Test
  void aModelThatIsNotConfiguredAnyMoreLeaves() {
    Held worker = held(model("old", 1), "a/old-1", Standing.SERVING, 1);
    Plan plan = plan(model("new", 1), List.of(site("a", 8)), worker);
    assertThat(departed(plan)).containsExactly("a/old-1");
    assertThat(added(plan)).containsExactly("a/new-1");
  }

  @Test
  void aDrainedNodeGetsNothingNewAndKeepsWhatItHas() {
    FleetSpec.Model model = model("m", 2);
    Site drained = new Site("a", Optional.of(machine(60)), Presence.CONNECTED, true);
    Plan plan =
        plan(model, List.of(drained, site("b", 2)), held(model, "a/m-1", Standing.DRAINED, 1));
    assertThat(added(plan)).containsExactly("b/m-1");
    assertThat(departed(plan)).isEmpty();
  }

  @Test
  void aRefusedWorkerGoesToAnotherNodeOnceAndStaysWhereAllHaveRefused() {
    FleetSpec.Model model = model("m", 1);
    Held refused = held(model, "a/m-1", Standing.REFUSED, 1);
    List<Site> sites = List.of(site("a", 60), site("b", 8));

    Plan move =
        Placement.plan(
            spec(model), sites, List.of(refused), Set.of(new Barred("m", "a")), Set.of());
    assertThat(departed(move)).containsExactly("a/m-1");
    assertThat(added(move)).containsExactly("b/m-1");

    Plan stay =
        Placement.plan(
            spec(model),
            sites,
            List.of(held(model, "b/m-1", Standing.REFUSED, 2)),
            Set.of(new Barred("m", "a"), new Barred("m", "b")),
            Set.of());
    assertThat(stay.isEmpty()).isTrue();
  }

  @Test
  void aNewConfigurationReplacesWorkersOneByOneAndNeverServesWithFewer() {
    FleetSpec.Model before = model("m", 2);
    FleetSpec.Model after = model("m", 2, recipe(FleetSpec.When.ANYWHERE, "/models/better.gguf"));
    List<Site> sites = List.of(site("a", 60));
    Held old1 = held(before, "a/m-1", Standing.SERVING, 1);
    Held old2 = held(before, "a/m-2", Standing.SERVING, 2);

    Plan first = plan(after, sites, old1, old2);
    assertThat(added(first)).containsExactly("a/m-3");
    assertThat(departed(first)).isEmpty();

    assertThat(plan(after, sites, old1, old2, held(after, "a/m-3", Standing.STARTING, 3)).isEmpty())
        .as("waits for the new one to serve")
        .isTrue();

    Plan second = plan(after, sites, old1, old2, held(after, "a/m-3", Standing.SERVING, 3));
    assertThat(departed(second)).containsExactly("a/m-2");
    assertThat(added(second)).containsExactly("a/m-4");
  }

  @Test
  void whereMemoryHasNoRoomForOneMoreAnOldOneLeavesFirst() {
    FleetSpec.Model before = model("m", 2);
    FleetSpec.Model after = model("m", 2, recipe(FleetSpec.When.ANYWHERE, "/models/better.gguf"));
    Plan plan =
        plan(
            after,
            List.of(site("a", 1)),
            held(before, "a/m-1", Standing.SERVING, 1),
            held(before, "a/m-2", Standing.SERVING, 2));
    assertThat(departed(plan)).containsExactly("a/m-2");
    assertThat(added(plan)).isEmpty();
  }

  @Test
  void anOldOneLeavesForANewOneThatIsRefusedForWantOfMemoryAndForNoOtherReason() {
    FleetSpec.Model before = model("m", 1);
    FleetSpec.Model after = model("m", 1, recipe(FleetSpec.When.ANYWHERE, "/models/better.gguf"));
    Held old = held(before, "a/m-1", Standing.SERVING, 1);
    Set<Barred> everywhere = Set.of(new Barred("m", "a"));

    assertThat(
            Placement.plan(
                    spec(after),
                    List.of(site("a", 60)),
                    List.of(old, held(after, "a/m-2", Standing.REFUSED, 2)),
                    everywhere,
                    everywhere)
                .isEmpty())
        .as("an option, a policy, a file or a proof")
        .isTrue();
    assertThat(
            departed(
                Placement.plan(
                    spec(after),
                    List.of(site("a", 60)),
                    List.of(old, held(after, "a/m-2", Standing.NO_ROOM, 2)),
                    everywhere,
                    everywhere)))
        .containsExactly("a/m-1");
  }

  @Test
  void oneThatIsDrainedByHandStaysWhileAnotherMoves() {
    FleetSpec.Model model = model("m", 2);
    assertThat(
            plan(
                    model,
                    List.of(site("a", 60), site("b", 60)),
                    held(model, "a/m-1", Standing.DRAINED, 1),
                    held(model, "a/m-2", Standing.SERVING, 2),
                    held(model, "b/m-1", Standing.STARTING, 3))
                .isEmpty())
        .isTrue();
  }

  @Test
  void aConfigurationThatNoNodeCanServeLeavesTheOldWorkersServing() {
    FleetSpec.Model before = model("m", 1);
    FleetSpec.Model after =
        model(
            "m",
            1,
            recipe(new FleetSpec.When(List.of("windows"), List.of(), List.of(), List.of()), "x"));
    assertThat(
            plan(after, List.of(site("a", 60)), held(before, "a/m-1", Standing.SERVING, 1))
                .isEmpty())
        .isTrue();
  }
}
