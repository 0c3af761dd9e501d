package dev.flotilla.hub.fleet;

import dev.flotilla.hub.lanes.AgentDesk;
import dev.flotilla.hub.lanes.AgentLink;
import dev.flotilla.hub.lanes.WorkLanes;
import dev.flotilla.hub.routing.Dialer;
import dev.flotilla.hub.routing.FleetSnapshot;
import dev.flotilla.hub.routing.FleetSource;
import dev.flotilla.hub.spec.FleetSpec;
import dev.flotilla.hub.store.Journal;
import dev.flotilla.wire.ControlMessage;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.ToIntFunction;

/** The one owner of what the fleet is. */
@SuppressWarnings("DoNotCallSuggester")
public final class Fleet implements FleetSource, AgentDesk, AutoCloseable {

  /**
   * A fleet that knows what {@code memory} remembers and serves nothing until {@link #apply}.
   *
   * @param hubId random name of this hub's state folder, told to agents
   * @param backendDialers makes a backend's dialer; called once per backend and revision
   * @param environment looks up the variable that holds a backend's key
   * @param inFlight requests in flight of a {@link dev.flotilla.hub.routing.Target#ledgerKey()}
   * @param nanoTime a clock that never jumps, such as {@code System::nanoTime}
   */
  public Fleet(
      String hubId,
      WorkLanes lanes,
      FleetMemory memory,
      Journal journal,
      Function<FleetSpec.Backend, Dialer> backendDialers,
      Function<String, Optional<String>> environment,
      ToIntFunction<String> inFlight,
      FleetLimits limits,
      InstantSource clock,
      LongSupplier nanoTime) {
    throw new UnsupportedOperationException();
  }

  /** Starts the thread that watches silence, drains and graces. */
  public void start() {
    throw new UnsupportedOperationException();
  }

  /**
   * Puts a revision into force, whole.
   *
   * @param at when the revision was stored: the creation time of names that are new with it
   */
  public void apply(FleetSpec spec, long revision, Instant at) {
    throw new UnsupportedOperationException();
  }

  @Override
  public FleetSnapshot current() {
    throw new UnsupportedOperationException();
  }

  @Override
  public void onChange(Runnable listener) {
    throw new UnsupportedOperationException();
  }

  /** Every worker, by name. */
  public List<WorkerView> workers() {
    throw new UnsupportedOperationException();
  }

  public Optional<WorkerView> worker(String name) {
    throw new UnsupportedOperationException();
  }

  /** Every node, by name. */
  public List<NodeView> nodes() {
    throw new UnsupportedOperationException();
  }

  public Optional<NodeView> node(String name) {
    throw new UnsupportedOperationException();
  }

  /** Downloads and installations under way, oldest first. */
  public List<ProgressView> progress() {
    throw new UnsupportedOperationException();
  }

  /**
   * Lets a worker, or every worker of a node, finish what runs and take nothing new, until {@link
   * #resume}. The engines stay loaded.
   *
   * @param by who asks, in words
   */
  public CommandResult drain(String name, String by) {
    throw new UnsupportedOperationException();
  }

  /** Takes back a drain by hand. */
  public CommandResult resume(String name, String by) {
    throw new UnsupportedOperationException();
  }

  /** Drains a worker, or every worker of a node, and starts its engine anew. */
  public CommandResult restart(String name, String by) {
    throw new UnsupportedOperationException();
  }

  /**
   * For tests.
   *
   * @throws AssertionError where an invariant does not hold
   */
  public void checkInvariants() {
    throw new UnsupportedOperationException();
  }

  @Override
  public Admission hello(AgentLink link, String enrolledAgentId, ControlMessage.Hello hello) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void said(AgentLink link, ControlMessage.FromAgent message) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void ended(AgentLink link, String why) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {}
}
