package dev.flotilla.hub.routing;

import static dev.flotilla.hub.routing.StaticFleet.draining;
import static dev.flotilla.hub.routing.StaticFleet.target;
import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.hub.routing.Admission.Granted;
import dev.flotilla.hub.routing.Target.Capability;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The dispatcher against a model of it: random arrivals, ends, faults, cancels, launches and time,
 * with every count kept a second time by hand.
 */
class DispatcherModelTest {
  private static final List<String> MODELS = List.of("m", "n");

  private final AtomicLong clock = new AtomicLong(5_000_000_000L);
  private final StaticFleet fleet = new StaticFleet();
  private final Ledger ledger = new Ledger();
  private final Dispatcher dispatcher =
      new Dispatcher(
          fleet,
          ledger,
          new Speeds(),
          () -> new QueueLimits(6, 3, Duration.ofSeconds(20)),
          clock::get);
  private final List<Ticket> waiting = new ArrayList<>();
  private final List<Reservation> running = new ArrayList<>();
  private int settled;
  private int entered;

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void countsStayRightWhateverHappens(long seed) {
    Random random = new Random(seed);
    launch(random);
    for (int step = 0; step < 4000; step++) {
      switch (random.nextInt(12)) {
        case 0, 1, 2, 3 -> arrive(random);
        case 4, 5, 6 -> end(random);
        case 7 -> cancel(random);
        case 8 -> launch(random);
        default -> clock.addAndGet(random.nextLong(800_000_000L));
      }
      look();
      collect();
      check(seed, step);
    }
    drain(random);
    assertThat(ledger.inFlight()).isZero();
    assertThat(settled).isEqualTo(entered);
    assertThat(dispatcher.waiting()).isEmpty();
    dispatcher.checkInvariants();
  }

  private void arrive(Random random) {
    String model = MODELS.get(random.nextInt(2));
    entered++;
    waiting.add(
        dispatcher.enter(
            new RequestNeeds(
                model,
                Capability.TEXT,
                random.nextInt(4) == 0 ? "" : "key" + random.nextInt(3),
                random.nextInt(5000),
                random.nextInt(1000),
                0,
                Set.of(),
                Set.of())));
  }

  private void end(Random random) {
    if (running.isEmpty()) {
      return;
    }
    Reservation place = running.remove(random.nextInt(running.size()));
    switch (random.nextInt(4)) {
      case 0 -> place.failed("scripted");
      case 1 -> {}
      default -> place.served();
    }
    place.close();
    if (random.nextBoolean()) {
      place.close();
    }
  }

  private void cancel(Random random) {
    if (!waiting.isEmpty()) {
      waiting.get(random.nextInt(waiting.size())).cancel();
    }
  }

  private void launch(Random random) {
    for (String model : MODELS) {
      List<Target> targets = new ArrayList<>();
      for (int i = 0; i < random.nextInt(4); i++) {
        Target launched =
            target(
                model + i,
                model,
                1 + i,
                1 + random.nextInt(3),
                2048 << i,
                target("x", model, 1).dialer());
        targets.add(random.nextInt(4) == 0 ? draining(launched) : launched);
      }
      if (targets.isEmpty() && random.nextBoolean()) {
        fleet.awaited(model, 1);
      } else {
        fleet.serve(model, targets.toArray(Target[]::new));
      }
    }
  }

  private void look() {
    for (Ticket ticket : waiting) {
      dispatcher.look(ticket);
    }
  }

  private void collect() {
    for (Ticket ticket : List.copyOf(waiting)) {
      if (ticket.settled() != null) {
        settled++;
        waiting.remove(ticket);
        if (ticket.settled() instanceof Granted granted) {
          running.add(granted.reservation());
          assertThat(granted.reservation().target().contextTokens())
              .isGreaterThanOrEqualTo(ticket.needs().contextTokens());
        }
      }
    }
  }

  private void check(long seed, int step) {
    Map<String, Integer> counted = new HashMap<>();
    for (Reservation place : running) {
      counted.merge(place.target().ledgerKey(), 1, Integer::sum);
    }
    counted.forEach((key, count) ->
        assertThat(ledger.inFlight(key))
            .as("seed %d step %d %s", seed, step, key)
            .isEqualTo(count));
    assertThat(ledger.inFlight()).isEqualTo(running.size());
    assertThat(dispatcher.waiting().values().stream().mapToInt(Integer::intValue).sum())
        .isEqualTo(waiting.size());
    dispatcher.checkInvariants();
  }

  private void drain(Random random) {
    while (!running.isEmpty() || !waiting.isEmpty()) {
      end(random);
      clock.addAndGet(Duration.ofSeconds(1).toNanos());
      look();
      collect();
    }
  }
}
