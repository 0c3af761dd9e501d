package dev.flotilla.hub.routing;

import static dev.flotilla.hub.routing.StaticFleet.draining;
import static dev.flotilla.hub.routing.StaticFleet.target;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.hub.routing.Admission.Cancelled;
import dev.flotilla.hub.routing.Admission.Granted;
import dev.flotilla.hub.routing.Admission.NothingServes;
import dev.flotilla.hub.routing.Admission.QueueFull;
import dev.flotilla.hub.routing.Admission.WaitedTooLong;
import dev.flotilla.hub.routing.Admission.Why;
import dev.flotilla.hub.routing.Target.Capability;
import dev.flotilla.shape.dialect.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DispatcherTest {
  private final AtomicLong clock = new AtomicLong(1_000_000_000_000L);
  private final StaticFleet fleet = new StaticFleet();
  private final Ledger ledger = new Ledger();
  private final Speeds speeds = new Speeds();
  private QueueLimits limits = new QueueLimits(8, 4, Duration.ofSeconds(30));
  private final Dispatcher dispatcher =
      new Dispatcher(fleet, ledger, speeds, () -> limits, clock::get);

  @AfterEach
  void everythingAddsUp() {
    dispatcher.checkInvariants();
  }

  @Test
  void aFreeTargetIsGivenAtOnce() {
    fleet.serve("m", target("a", "m", 1));

    Reservation place = granted(enter("m", "alice"));

    assertThat(place.target().name()).isEqualTo("a");
    assertThat(ledger.inFlight("a#1")).isEqualTo(1);
    place.close();
    place.close();
    assertThat(ledger.inFlight("a#1")).isZero();
  }

  @Test
  void oneClientsBacklogDoesNotHoldUpAnothersOneRequest() {
    fleet.serve("m", target("a", "m", 1));
    Reservation running = granted(enter("m", "noisy"));
    List<Ticket> backlog = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      backlog.add(enter("m", "noisy"));
    }
    Ticket quiet = enter("m", "quiet");

    running.close();
    granted(backlog.get(0)).close();

    assertThat(quiet.settled()).isInstanceOf(Granted.class);
    assertThat(backlog.get(1).settled()).isNull();
    granted(quiet).close();
    backlog.subList(1, 4).forEach(each -> granted(each).close());
  }

  @Test
  void aFullQueueIsRefusedWithItsLimitPerKeyAndPerModel() {
    fleet.serve("m", target("a", "m", 1));
    Reservation running = granted(enter("m", "noisy"));
    for (int i = 0; i < 4; i++) {
      enter("m", "noisy");
    }

    assertThat(enter("m", "noisy").settled())
        .isInstanceOfSatisfying(
            QueueFull.class,
            full -> {
              assertThat(full.limit()).isEqualTo(4);
              assertThat(full.perKey()).isTrue();
              assertThat(full.retryAfter()).isPositive();
            });
    for (int i = 0; i < 4; i++) {
      enter("m", "other" + i);
    }
    assertThat(enter("m", "last").settled())
        .isInstanceOfSatisfying(
            QueueFull.class,
            full -> {
              assertThat(full.limit()).isEqualTo(8);
              assertThat(full.perKey()).isFalse();
            });
    running.close();
  }

  @Test
  void whoWaitsTooLongIsToldTheLimit() {
    fleet.serve("m", target("a", "m", 1));
    Reservation running = granted(enter("m", ""));
    Ticket late = enter("m", "");

    clock.addAndGet(Duration.ofSeconds(31).toNanos());
    dispatcher.look(late);

    assertThat(late.settled())
        .isInstanceOfSatisfying(
            WaitedTooLong.class,
            waited -> assertThat(waited.limit()).isEqualTo(Duration.ofSeconds(30)));
    assertThat(dispatcher.waiting()).isEmpty();
    running.close();
  }

  @Test
  void whoGoesAwayLeavesTheQueue() {
    fleet.serve("m", target("a", "m", 1));
    Reservation running = granted(enter("m", ""));
    Ticket waiting = enter("m", "");
    CompletableFuture<Admission> answer = CompletableFuture.supplyAsync(waiting::await);

    waiting.cancel();

    assertThat(answer.join()).isInstanceOf(Cancelled.class);
    running.close();
    assertThat(ledger.inFlight()).isZero();
  }

  @Test
  void aWorkerThatComesUpWakesWhoWaitsForIt() {
    fleet.awaited("m", 1);
    Ticket waiting = enter("m", "");
    CompletableFuture<Admission> answer = CompletableFuture.supplyAsync(waiting::await);
    await().until(() -> dispatcher.waiting().containsKey("m"));

    fleet.serve("m", target("a", "m", 1));

    assertThat(answer.join())
        .isInstanceOfSatisfying(Granted.class, granted -> granted.reservation().close());
  }

  @Test
  void whenTheLastHopeIsGoneWhoWaitsIsToldWhy() {
    fleet.awaited("m", 1);
    Ticket waiting = enter("m", "");

    fleet.serve("m");

    assertThat(waiting.settled())
        .isInstanceOfSatisfying(
            NothingServes.class,
            nothing -> {
              assertThat(nothing.why()).isEqualTo(Why.NOT_SERVING);
              assertThat(nothing.explanation()).isEqualTo("no worker of m is up");
            });
  }

  @Test
  void aDrainingTargetGetsNothingNew() {
    fleet.serve("m", draining(target("a", "m", 4)), target("b", "m", 1));

    Reservation place = granted(enter("m", ""));
    Ticket second = enter("m", "");

    assertThat(place.target().name()).isEqualTo("b");
    assertThat(second.settled()).isNull();
    place.close();
    granted(second).close();
  }

  @Test
  void aRequestIsNeverSentWhereItsContextDoesNotFit() {
    fleet.serve(
        "m",
        target("small", "m", 9, 1, 2048, target("x", "m", 1).dialer()),
        target("large", "m", 1, 1, 8192, target("x", "m", 1).dialer()));

    Reservation place = granted(dispatcher.enter(needs("m", "", 4000)));
    assertThat(place.target().name()).isEqualTo("large");
    assertThat(dispatcher.enter(needs("m", "", 9000)).settled())
        .isInstanceOfSatisfying(
            NothingServes.class,
            nothing -> {
              assertThat(nothing.why()).isEqualTo(Why.CONTEXT);
              assertThat(nothing.contextTokens()).isEqualTo(8192);
            });
    place.close();
  }

  @Test
  void embeddingsGoOnlyWhereTheyCanBeMade() {
    fleet.serve("m", target("a", "m", 1));

    var needs = new RequestNeeds("m", Capability.EMBEDDINGS, "", 0, 0, 0, Set.of(), Set.of());

    assertThat(dispatcher.enter(needs).settled())
        .isInstanceOfSatisfying(
            NothingServes.class, nothing -> assertThat(nothing.why()).isEqualTo(Why.CAPABILITY));
  }

  @Test
  void aRequestGoesWhereTheEngineHasWhatItAsksFor() {
    fleet.serve("m", target("apple", "m", "mlx-lm"), target("box", "m", "vllm"));

    for (int i = 0; i < 3; i++) {
      try (Reservation place = granted(dispatcher.enter(asking(Feature.JSON_SCHEMA)))) {
        assertThat(place.target().name()).isEqualTo("box");
      }
    }
  }

  @Test
  void whatNoEngineOfTheNameHasIsRefusedByItsWords() {
    fleet.serve("m", target("apple", "m", "mlx-lm"));

    assertThat(dispatcher.enter(asking(Feature.JSON_SCHEMA, Feature.STOP_STRINGS)).settled())
        .isInstanceOfSatisfying(
            NothingServes.class,
            nothing -> {
              assertThat(nothing.why()).isEqualTo(Why.CAPABILITY);
              assertThat(nothing.explanation())
                  .isEqualTo(
                      "model 'm' has no engine now that can do this: answers by a JSON schema"
                          + " (response_format json_schema)");
              assertThat(nothing.param()).isEqualTo("response_format");
            });
  }

  @Test
  void aWorkerThatComesMayBeOfAnotherEngineSoTheRequestWaits() {
    fleet.name(
        new FleetSnapshot.Name("m", 1, 4096, List.of(target("apple", "m", "mlx-lm")), 1, "why"));

    Ticket ticket = dispatcher.enter(asking(Feature.JSON_SCHEMA));
    assertThat(ticket.settled()).isNull();
    fleet.serve("m", target("apple", "m", "mlx-lm"), target("box", "m", "vllm"));

    granted(ticket).close();
  }

  private static RequestNeeds asking(Feature... features) {
    return new RequestNeeds("m", Capability.TEXT, "", 0, 100, 0, Set.of(features), Set.of());
  }

  @Test
  void theFasterTargetIsPreferredUntilItIsFull() {
    Target slow = target("slow", "m", 4);
    Target fast = target("fast", "m", 2);
    fleet.serve("m", slow, fast);
    speeds.learn(slow, 200, 1_000_000_000L, 100, 10_000_000_000L, 1, clock.get());
    speeds.learn(fast, 200, 100_000_000L, 100, 1_000_000_000L, 1, clock.get());

    List<Reservation> places = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      places.add(granted(enter("m", "")));
    }

    assertThat(places).map(each -> each.target().name()).containsExactly("fast", "fast", "slow");
    places.forEach(Reservation::close);
  }

  @Test
  void equalTargetsShareTheWork() {
    fleet.serve("m", target("a", "m", 4), target("b", "m", 4));

    List<Reservation> places = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      places.add(granted(enter("m", "")));
    }

    assertThat(ledger.inFlight("a#1")).isEqualTo(3);
    assertThat(ledger.inFlight("b#1")).isEqualTo(3);
    places.forEach(Reservation::close);
  }

  @Test
  void aTargetThatFailsFastAttractsOneRequestAPause() {
    fleet.serve("m", target("broken", "m", 4), target("sound", "m", 4));
    int sentToBroken = 0;

    for (int second = 0; second < 60; second++) {
      for (int request = 0; request < 10; request++) {
        Reservation place = granted(enter("m", ""));
        if (place.target().name().equals("broken")) {
          sentToBroken++;
          place.failed("closed the connection without a reply");
        } else {
          place.served();
        }
        place.close();
      }
      clock.addAndGet(1_000_000_000L);
    }

    assertThat(sentToBroken).isBetween(1, 7);
  }

  @Test
  void oneCrashIsOneFaultHoweverManyRequestsItFails() {
    fleet.serve("m", target("a", "m", 8), target("b", "m", 8));
    List<Reservation> places = new ArrayList<>();
    for (int i = 0; i < 16; i++) {
      places.add(granted(enter("m", "")));
    }

    for (Reservation place : places) {
      if (place.target().name().equals("a")) {
        place.failed("connection reset");
      }
      place.close();
    }

    assertThat(load("a").setAsideMillis()).isEqualTo(1000);
    assertThat(load("a").failed()).isEqualTo(8);
  }

  @Test
  void afterAPauseOneProbeDecidesForTheRest() {
    fleet.serve("m", target("a", "m", 8));
    Reservation failing = granted(enter("m", ""));
    failing.failed("stalled");
    failing.close();
    Ticket probe = enter("m", "");
    Ticket behind = enter("m", "");
    assertThat(probe.settled()).isNull();

    clock.addAndGet(1_000_000_000L);
    dispatcher.look(behind);

    Reservation probing = granted(probe);
    assertThat(behind.settled()).isNull();
    probing.served();
    probing.close();
    granted(behind).close();
  }

  @Test
  void aLongPauseIsSaidInsteadOfWaitedFor() {
    fleet.serve("m", target("a", "m", 1));
    for (int fault = 0; fault < 4; fault++) {
      Reservation failing = granted(enter("m", ""));
      failing.failed("answered 404 model not found");
      failing.close();
      clock.addAndGet(fault < 3 ? load("a").setAsideMillis() * 1_000_000 : 0);
    }

    assertThat(enter("m", "").settled())
        .isInstanceOfSatisfying(
            NothingServes.class,
            nothing -> {
              assertThat(nothing.why()).isEqualTo(Why.SET_ASIDE);
              assertThat(nothing.explanation()).contains("a: answered 404 model not found");
              assertThat(nothing.retryAfter()).isEqualTo(Duration.ofSeconds(8));
            });
  }

  @Test
  void aTargetThatStallsAgainAndAgainIsSetAsideForTensOfSeconds() {
    fleet.serve("m", target("a", "m", 1));
    List<Long> pauses = new ArrayList<>();
    for (int stall = 0; stall < 5; stall++) {
      Reservation stalling = granted(enter("m", ""));
      stalling.stalled("no further chunk of the reply came within 60 s");
      stalling.close();
      pauses.add(load("a").setAsideMillis() / 1000);
      clock.addAndGet(load("a").setAsideMillis() * 1_000_000);
    }

    assertThat(pauses).containsExactly(10L, 20L, 40L, 60L, 60L);
    assertThat(load("a").failed()).isEqualTo(5);
  }

  @Test
  void anotherAttemptGoesElsewhereAndBeforeTheOthersOfItsKey() {
    fleet.serve("m", target("a", "m", 1), target("b", "m", 1));
    Reservation first = granted(enter("m", "k"));
    Reservation second = granted(enter("m", "k"));
    Ticket waiting = enter("m", "k");
    Ticket again = dispatcher.enter(needs("m", "k", 0).without(first.target()));

    second.close();

    assertThat(granted(again).target()).isEqualTo(second.target());
    assertThat(waiting.settled()).isNull();
    first.close();
    granted(waiting).close();
    granted(again).close();
  }

  @Test
  void whoWasFailedByAllIsToldSo() {
    Target a = target("a", "m", 1);
    fleet.serve("m", a);

    assertThat(dispatcher.enter(needs("m", "", 0).without(a)).settled())
        .isInstanceOfSatisfying(
            NothingServes.class, nothing -> assertThat(nothing.why()).isEqualTo(Why.ALL_TRIED));
  }

  private Ticket enter(String model, String key) {
    return dispatcher.enter(needs(model, key, 0));
  }

  private TargetLoad load(String name) {
    return dispatcher.loads().stream().filter(e -> e.target().equals(name)).findFirst().get();
  }

  private static RequestNeeds needs(String model, String key, int contextTokens) {
    return new RequestNeeds(model, Capability.TEXT, key, contextTokens, 100, 0, Set.of(), Set.of());
  }

  private static Reservation granted(Ticket ticket) {
    if (ticket.settled() instanceof Granted granted) {
      return granted.reservation();
    }
    throw new AssertionError("not granted: " + ticket.settled());
  }
}
