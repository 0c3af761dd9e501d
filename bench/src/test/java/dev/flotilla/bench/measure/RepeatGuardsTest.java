package dev.flotilla.bench.measure;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What several runs of the same load say of each other. */
final class RepeatGuardsTest {

  @Test
  void aFirstRunThatReadsLowIsLeftOut() {
    Summary first = Summary.of(Runs.steady(2, 3, 500, 30));
    Summary later = Summary.of(Runs.steady(2, 3, 50, 10));

    assertThat(RepeatGuards.firstRun(first, List.of(later, later)).orElseThrow().words())
        .isEqualTo(
            "The first run reads low: 26.0 tok/s against a median of 142.9 in the 2 after it (142.9"
                + " to 142.9). It is left out.");
    assertThat(RepeatGuards.firstRun(later, List.of(first)).orElseThrow().words())
        .startsWith("The first run reads high");
    assertThat(RepeatGuards.firstRun(later, List.of(later))).isEmpty();
  }

  @Test
  void repeatsThatDifferAsRunsDoAreNothingToTell() {
    assertThat(RepeatGuards.contradiction(runs(10, 11, 13))).isEmpty();
    assertThat(RepeatGuards.contradiction(runs(10))).isEmpty();
  }

  @Test
  void repeatsThatDifferByMoreThanHalfAreTold() {
    Finding found = RepeatGuards.contradiction(runs(10, 10, 20)).orElseThrow();

    assertThat(found.misleads()).isFalse();
    assertThat(found.words())
        .isEqualTo(
            "3 runs of the same load contradict each other: from 43.5 to 71.4 tok/s, a factor of"
                + " 1.6. Their median says little. Measure again on a machine that does nothing"
                + " else, with more --repeats.");
  }

  @Test
  void repeatsThatDifferByMoreThanThreeTimesMislead() {
    Finding found = RepeatGuards.contradiction(runs(10, 120)).orElseThrow();

    assertThat(found.misleads()).isTrue();
    assertThat(found.words())
        .startsWith("2 runs of the same load contradict each other: from 8.8 to 71.4 tok/s")
        .contains("Their median is no figure of the server.");
  }

  @Test
  void aRunThatAPersonEndedIsNoRepeat() {
    Run whole = Runs.steady(1, 3, 120, 120);
    Run cut = new Run(whole.load(), Instant.EPOCH, whole.durationNanos(), whole.requests(), true);

    assertThat(RepeatGuards.contradiction(List.of(runs(10).getFirst(), Runs.result(cut))))
        .isEmpty();
  }

  @Test
  void aSweepThatHoldsSuchALevelMisleadsAndDrawsNoKneeFromIt() {
    Sweep sweep =
        sweep(new Level(1, runs(10, 10)), new Level(2, runs(10, 120)), new Level(4, runs(20, 20)));

    assertThat(sweep.misleads()).isTrue();
    assertThat(sweep.kneeWords().orElseThrow())
        .startsWith("1: beyond it you pay ")
        .endsWith("; drawn without concurrency 2, where runs contradict each other");
  }

  @Test
  void whereTheLevelsAboveContradictThemselvesThereIsNoKnee() {
    assertThat(sweep(new Level(1, runs(10, 10)), new Level(8, runs(10, 120))).kneeWords())
        .contains("not known: runs contradict each other at concurrency 8");
    assertThat(
            sweep(
                    new Level(1, runs(20, 20)),
                    new Level(2, runs(10, 10)),
                    new Level(4, runs(10, 120)))
                .kneeWords())
        .contains("not known: runs contradict each other at concurrency 4");
  }

  private static Sweep sweep(Level... levels) {
    return new Sweep(Runs.closed(0, 0), Instant.EPOCH, List.of(levels), List.of());
  }

  /** Runs of one stream, of answers with so many milliseconds between tokens and 50 before them. */
  private static List<Result> runs(long... stepsMs) {
    return Arrays.stream(stepsMs)
        .mapToObj(step -> Runs.result(Runs.steady(1, 3, 50, step)))
        .toList();
  }
}
