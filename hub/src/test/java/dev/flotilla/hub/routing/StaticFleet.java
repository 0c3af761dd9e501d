package dev.flotilla.hub.routing;

import dev.flotilla.hub.routing.Target.Capability;
import dev.flotilla.hub.routing.Target.Kind;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;

/** A fleet that is what the test says, changed by hand. */
public final class StaticFleet implements FleetSource {
  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
  private volatile FleetSnapshot snapshot = FleetSnapshot.EMPTY;

  @Override
  public FleetSnapshot current() {
    return snapshot;
  }

  @Override
  public void onChange(Runnable listener) {
    listeners.add(listener);
  }

  /** The name serves from these targets from now on. */
  public StaticFleet serve(String model, Target... targets) {
    return name(
        new FleetSnapshot.Name(
            model, 1_700_000_000, 0, List.of(targets), 0, "no worker of " + model + " is up"));
  }

  /** The name has no target, but as many workers on their way. */
  public StaticFleet awaited(String model, int coming) {
    return name(
        new FleetSnapshot.Name(
            model, 1_700_000_000, 4096, List.of(), coming, model + " is being started"));
  }

  public StaticFleet name(FleetSnapshot.Name name) {
    Map<String, FleetSnapshot.Name> names = new LinkedHashMap<>(snapshot.names());
    names.put(name.name(), name);
    snapshot = new FleetSnapshot(snapshot.revision() + 1, names, Map.of());
    listeners.forEach(Runnable::run);
    return this;
  }

  /** Every target of the name, changed. */
  public void change(String model, UnaryOperator<Target> change) {
    List<Target> changed = new ArrayList<>();
    Objects.requireNonNull(snapshot.names().get(model))
        .targets()
        .forEach(each -> changed.add(change.apply(each)));
    serve(model, changed.toArray(Target[]::new));
  }

  public static Target target(String name, String model, int slots) {
    return target(name, model, slots, 1, 4096, StaticFleet::nobody);
  }

  /** A target of that engine. */
  public static Target target(String name, String model, String engine) {
    return target(name, model, engine, 1, 1, 4096, StaticFleet::nobody);
  }

  public static Target target(
      String name, String model, int slots, long generation, int contextTokens, Dialer dialer) {
    return target(name, model, "llama-server", slots, generation, contextTokens, dialer);
  }

  private static Dialer.Lease nobody(boolean fresh, java.time.Duration limit)
      throws java.io.IOException {
    throw new java.io.IOException("nobody listens");
  }

  private static Target target(
      String name,
      String model,
      String engine,
      int slots,
      long generation,
      int contextTokens,
      Dialer dialer) {
    return new Target(
        name,
        Kind.WORKER,
        model,
        model,
        engine,
        "node",
        generation,
        contextTokens,
        0,
        slots,
        true,
        Capability.TEXT,
        null,
        null,
        "127.0.0.1",
        "",
        dialer);
  }

  public static Target draining(Target target) {
    return target.admitting(false);
  }
}
