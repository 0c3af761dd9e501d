package dev.flotilla.hub.routing;

import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.shape.dialect.Feature;
import dev.flotilla.shape.dialect.Honour;
import dev.flotilla.shape.dialect.Promise;
import org.jspecify.annotations.Nullable;

/**
 * One place that a request can be sent to now: a serving worker, or a backend. Immutable; a change
 * of state is a new target in the next {@link FleetSnapshot}.
 *
 * @param name the worker's or backend's name, as in the header {@code x-flotilla-worker}
 * @param kind what stands behind it
 * @param model public name that it serves
 * @param upstreamModel the name that the server itself knows the model by; written into the
 *     request's body
 * @param engine the engine's word, {@code backend} where there is no agent
 * @param node the node's name, empty for a backend
 * @param generation the worker's launch, 0 for a backend; part of the ledger's key, so that a
 *     launch that died takes its counts with it
 * @param contextTokens tokens of one request, 0 where unknown
 * @param longestTokenBytes bytes of the vocabulary's longest token, 0 where unknown
 * @param slots requests that may be in flight at once
 * @param admitting false while it drains or is suspect: what runs goes on, nothing new is sent
 * @param capability which routes it answers
 * @param promise the form that its replies are given; null for a backend of a name that promises
 *     nothing: its replies keep theirs
 * @param apiKey what the hub sends as bearer token, or null
 * @param host value of the {@code Host} header
 * @param basePath put in front of {@code /v1/…}, empty or starting with a slash
 * @param dialer how to get a connection to it
 */
public record Target(
    String name,
    Kind kind,
    String model,
    String upstreamModel,
    String engine,
    String node,
    long generation,
    int contextTokens,
    int longestTokenBytes,
    int slots,
    boolean admitting,
    Capability capability,
    @Nullable Promise promise,
    @Nullable String apiKey,
    String host,
    String basePath,
    Dialer dialer) {

  /** Whether an agent stands behind it. */
  public enum Kind {
    WORKER,
    BACKEND
  }

  /** What it answers: a llama-server started for embeddings answers nothing else. */
  public enum Capability {
    /** {@code /v1/chat/completions} and {@code /v1/completions}. */
    TEXT,
    /** {@code /v1/embeddings}. */
    EMBEDDINGS,
    /** Both: what a backend is taken to answer until it says otherwise. */
    BOTH
  }

  /** The same place, which takes requests or does not. */
  public Target admitting(boolean now) {
    return with(now, promise);
  }

  /** The same place under a name that promises this. */
  public Target promising(Promise promised) {
    return with(admitting, promised);
  }

  private Target with(boolean admittingNow, @Nullable Promise promised) {
    return new Target(
        name,
        kind,
        model,
        upstreamModel,
        engine,
        node,
        generation,
        contextTokens,
        longestTokenBytes,
        slots,
        admittingNow,
        capability,
        promised,
        apiKey,
        host,
        basePath,
        dialer);
  }

  /** Whether a request that asks for this has it here. */
  public boolean honours(Feature feature) {
    return dialect().honours(feature, promise) != Honour.NOT;
  }

  /** How its engine speaks. */
  public Dialect dialect() {
    return Dialect.of(engine);
  }

  /** The identity under which the ledger counts: name and launch. */
  public String ledgerKey() {
    return name + '#' + generation;
  }

  /** The key is left out: a target may be logged. */
  @Override
  public String toString() {
    return "Target["
        + name
        + '#'
        + generation
        + " slots "
        + slots
        + (admitting ? "" : " not admitting")
        + "]";
  }
}
