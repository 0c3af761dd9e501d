package dev.flotilla.bench.arms;

import java.util.ArrayList;
import java.util.List;

/**
 * The runs of the experiment in their order. Each arm first runs once without counting. Then the
 * arms come in turn, each repeat beginning with another one: whatever the machine does meanwhile
 * hits all arms alike.
 *
 * @param steps for each arm one that does not count, and one for each repeat
 */
public record ArmsPlan(List<Step> steps) {
  public static final int REPEATS_MAX = 100;

  public ArmsPlan {
    steps = List.copyOf(steps);
  }

  /**
   * One run.
   *
   * @param place in the order of all runs, from 0: its variant of the prompts
   * @param repeat from 1; 0 for the runs that do not count
   */
  public record Step(int place, Arm arm, int repeat) {
    public boolean counts() {
      return repeat > 0;
    }
  }

  /** The plan for these arms. */
  public static ArmsPlan of(List<Arm> arms, int repeats) {
    List<Step> steps = new ArrayList<>();
    for (int repeat = 0; repeat <= repeats; repeat++) {
      for (int turn = 0; turn < arms.size(); turn++) {
        steps.add(new Step(steps.size(), arms.get((turn + repeat) % arms.size()), repeat));
      }
    }
    return new ArmsPlan(steps);
  }
}
