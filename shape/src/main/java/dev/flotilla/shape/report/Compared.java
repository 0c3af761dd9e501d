package dev.flotilla.shape.report;

import dev.flotilla.shape.probe.Comparison;
import dev.flotilla.shape.probe.Difference;
import dev.flotilla.shape.probe.Probe;
import dev.flotilla.shape.probe.ProbeResult;
import dev.flotilla.shape.probe.ProbeResult.LeftOut;
import dev.flotilla.shape.probe.ProbeResult.Replied;
import dev.flotilla.shape.probe.ProbeResult.Silent;
import java.util.List;

/** One probe at two servers, the first of which is what the second is held to. */
public record Compared(ProbeResult first, ProbeResult second, Sameness sameness) {

  /** What came of it. */
  public sealed interface Sameness {
    /** The word of tables and of JSON. */
    String word();
  }

  /** Both replies have one shape. */
  public record Same() implements Sameness {
    @Override
    public String word() {
      return "same";
    }
  }

  /**
   * They have not.
   *
   * @param differences where, the first one first; never empty. {@code expected} is the first
   *     server's
   */
  public record Different(List<Difference> differences) implements Sameness {
    public Different {
      differences = List.copyOf(differences);
    }

    @Override
    public String word() {
      return "different";
    }
  }

  /** One of them was not asked, or neither answered. */
  public record NotCompared(String why) implements Sameness {
    @Override
    public String word() {
      return "not compared";
    }
  }

  /**
   * Compares two results of the same probe.
   *
   * @throws IllegalArgumentException if they are of two probes
   */
  public static Compared of(ProbeResult first, ProbeResult second) {
    if (!first.probe().equals(second.probe())) {
      throw new IllegalArgumentException("two results of two probes can't be compared");
    }
    return new Compared(first, second, sameness(first, second));
  }

  private static Sameness sameness(ProbeResult first, ProbeResult second) {
    if (first.outcome() instanceof LeftOut left) {
      return new NotCompared(left.why());
    }
    if (second.outcome() instanceof LeftOut left) {
      return new NotCompared(left.why());
    }
    if (first.outcome() instanceof Silent one && second.outcome() instanceof Silent) {
      return new NotCompared("neither replied: " + one.why());
    }
    if (first.outcome() instanceof Replied one && second.outcome() instanceof Replied other) {
      List<Difference> differences =
          Comparison.differences(first.probe(), one.shape(), other.shape());
      return differences.isEmpty() ? new Same() : new Different(differences);
    }
    return new Different(
        List.of(new Difference("reply", replyOrSilence(first), replyOrSilence(second))));
  }

  private static String replyOrSilence(ProbeResult result) {
    return result.outcome() instanceof Silent silent ? "none: " + silent.why() : "one";
  }

  public Probe probe() {
    return first.probe();
  }
}
