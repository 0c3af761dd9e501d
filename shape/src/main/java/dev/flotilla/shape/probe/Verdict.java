package dev.flotilla.shape.probe;

import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.shape.dialect.Feature;
import dev.flotilla.shape.dialect.Honour;
import dev.flotilla.shape.dialect.Promise;
import dev.flotilla.shape.probe.ProbeResult.LeftOut;
import dev.flotilla.shape.probe.ProbeResult.Replied;
import dev.flotilla.shape.probe.ProbeResult.Silent;
import java.util.List;
import java.util.Optional;

/** Whether what became of a probe is what the model's name promises. */
public sealed interface Verdict {

  /** The shape is the promised one. */
  record Kept() implements Verdict {}

  /**
   * It is not.
   *
   * @param differences where, the first one first; never empty
   */
  record Broken(List<Difference> differences) implements Verdict {
    public Broken {
      differences = List.copyOf(differences);
    }

    public Difference first() {
      return differences.getFirst();
    }
  }

  /** There was no reply, which no promise has. */
  record Unanswered(String why) implements Verdict {}

  /** Nobody asked. */
  record NotAsked(String why) implements Verdict {}

  /** Holds a result to the promise alone: no other server is needed. */
  static Verdict of(Promise promise, ProbeResult result) {
    return switch (result.outcome()) {
      case LeftOut left -> new NotAsked(left.why());
      case Silent silent -> new Unanswered(silent.why());
      case Replied replied -> {
        List<Difference> differences =
            PromisedShape.differences(result.probe(), promise, replied.shape());
        yield differences.isEmpty() ? new Kept() : new Broken(differences);
      }
    };
  }

  /**
   * Why a probe is nothing for a worker of that engine under that promise; empty where it is. For
   * {@link ProbeRun}.
   */
  static Optional<String> leftOut(Probe probe, Promise promise, Dialect dialect) {
    if (probe.needsTools() && !promise.tools()) {
      return Optional.of("the model promises no tool calls");
    }
    for (Feature feature : probe.features()) {
      if (dialect.honours(feature) == Honour.NOT) {
        return Optional.of("the engine has no " + feature.words());
      }
    }
    return Optional.empty();
  }
}
