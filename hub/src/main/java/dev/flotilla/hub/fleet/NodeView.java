package dev.flotilla.hub.fleet;

import dev.flotilla.wire.fleet.NodeFacts;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One node as people see it.
 *
 * @param facts last facts heard, null where the node was never connected since the hub's first
 *     start
 * @param idleLanes work lanes that wait unopened
 * @param openLanes work lanes that are opened
 * @param update how far it is with the version that it was offered last; empty where with none
 */
public record NodeView(
    String name,
    boolean connected,
    long generation,
    String agentVersion,
    @Nullable NodeFacts facts,
    @Nullable Instant lastHeard,
    int idleLanes,
    int openLanes,
    int workers,
    boolean drained,
    String update) {}
