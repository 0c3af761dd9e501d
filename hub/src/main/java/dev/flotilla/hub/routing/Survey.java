package dev.flotilla.hub.routing;

import dev.flotilla.hub.routing.Admission.NothingServes;
import dev.flotilla.hub.routing.Admission.Why;
import dev.flotilla.shape.dialect.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What is true of a name's targets for one request at one moment: where there is room, and if
 * nowhere, whether waiting can help. Decides nothing and changes nothing.
 */
final class Survey {
  /** A pause that ends sooner than this is waited for; for a longer one the client is told. */
  private static final long ASIDE_WORTH_WAITING_NANOS = 5_000_000_000L;

  private final boolean hoping;
  private boolean answered;
  private boolean honoured;
  private boolean fitting;
  private boolean untried;
  private boolean waitable;
  private int contextTokens;
  private long asideNanos;
  private String asideReason = "";
  private @Nullable Target only;
  private @Nullable List<Target> free;

  /**
   * @param hoping whether a worker that was tried may have died, so that another launch of it comes
   */
  private Survey(boolean hoping) {
    this.hoping = hoping;
  }

  static Survey of(
      RequestNeeds needs,
      FleetSnapshot.Name name,
      Ledger ledger,
      Faults faults,
      long now,
      boolean hoping) {
    Survey survey = new Survey(hoping);
    for (Target target : name.targets()) {
      survey.look(target, needs, ledger, faults, now);
    }
    return survey;
  }

  private void look(Target target, RequestNeeds needs, Ledger ledger, Faults faults, long now) {
    if (!needs.answeredBy(target)) {
      return;
    }
    answered = true;
    if (!needs.honouredBy(target)) {
      return;
    }
    honoured = true;
    contextTokens = Math.max(contextTokens, target.contextTokens());
    if (!needs.fits(target)) {
      return;
    }
    fitting = true;
    String key = target.ledgerKey();
    if (needs.tried().contains(key)) {
      waitable |= hoping && target.kind() == Target.Kind.WORKER;
      return;
    }
    untried = true;
    if (!target.admitting()) {
      return;
    }
    if (!faults.admits(key, now)) {
      long aside = faults.asideNanos(key, now);
      waitable |= aside <= ASIDE_WORTH_WAITING_NANOS;
      if (asideReason.isEmpty() || aside < asideNanos) {
        asideNanos = aside;
        asideReason = target.name() + ": " + faults.reason(key);
      }
      return;
    }
    waitable = true;
    if (ledger.inFlight(key) < target.slots()) {
      add(target);
    }
  }

  private void add(Target target) {
    Target first = only;
    if (first == null) {
      only = target;
      return;
    }
    List<Target> several = free;
    if (several == null) {
      several = new ArrayList<>();
      several.add(first);
      free = several;
    }
    several.add(target);
  }

  /** A target with room, null where there is none; the only one where {@link #free} is null. */
  @Nullable Target only() {
    return only;
  }

  /** The targets with room where there are several, otherwise null. */
  @Nullable List<Target> free() {
    return free;
  }

  /** Why waiting is pointless, null where it is not. */
  @Nullable NothingServes refusal(RequestNeeds needs, FleetSnapshot.Name name) {
    if (name.targets().isEmpty()) {
      if (name.contextTokens() > 0 && needs.contextTokens() > name.contextTokens()) {
        return context(name.contextTokens(), name);
      }
    } else if (!answered) {
      return new NothingServes(
          Why.CAPABILITY,
          needs.capability() == Target.Capability.EMBEDDINGS
              ? "model '" + name.name() + "' has no embeddings"
              : "model '" + name.name() + "' answers embeddings only",
          0,
          "model",
          RetryAfter.LEAST);
    } else if (!honoured) {
      // One that comes may be of another engine.
      return name.coming() > 0 ? null : notCapable(needs, name);
    } else if (!fitting) {
      return context(contextTokens, name);
    }
    if (waitable || name.coming() > 0) {
      return null;
    }
    if (!asideReason.isEmpty()) {
      return new NothingServes(
          Why.SET_ASIDE,
          "model '" + name.name() + "' is set aside after a fault of " + asideReason,
          0,
          "model",
          RetryAfter.atLeast(Duration.ofNanos(asideNanos)));
    }
    if (fitting && !untried) {
      return new NothingServes(
          Why.ALL_TRIED,
          "every target of model '" + name.name() + "' failed",
          0,
          "model",
          RetryAfter.LEAST);
    }
    return new NothingServes(
        Why.NOT_SERVING,
        name.explanation().isEmpty()
            ? "no worker serves model '" + name.name() + "' now"
            : name.explanation(),
        0,
        "model",
        Duration.ofSeconds(5));
  }

  /** Names the features that no target has, or else those that no target has all of. */
  private static NothingServes notCapable(RequestNeeds needs, FleetSnapshot.Name name) {
    Set<Feature> lacking = EnumSet.noneOf(Feature.class);
    for (Feature feature : needs.features()) {
      if (name.targets().stream()
          .filter(needs::answeredBy)
          .noneMatch(target -> target.honours(feature))) {
        lacking.add(feature);
      }
    }
    boolean together = lacking.isEmpty();
    if (together) {
      lacking.addAll(needs.features());
    }
    String words = String.join(", ", lacking.stream().map(Feature::words).toList());
    return new NothingServes(
        Why.CAPABILITY,
        "model '%s' has no engine now that can do this%s: %s"
            .formatted(name.name(), together ? " in one request" : "", words),
        0,
        lacking.iterator().next().param(),
        RetryAfter.LEAST);
  }

  private static NothingServes context(int contextTokens, FleetSnapshot.Name name) {
    return new NothingServes(
        Why.CONTEXT,
        "the largest context of model '" + name.name() + "' is " + contextTokens + " tokens",
        contextTokens,
        "messages",
        RetryAfter.LEAST);
  }
}
