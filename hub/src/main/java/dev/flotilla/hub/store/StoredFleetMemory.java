package dev.flotilla.hub.store;

import dev.flotilla.wire.fleet.NodeFacts;
import dev.flotilla.wire.fleet.WorkerSpec;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * The fleet's memory: one row a node, one row a placed worker, facts and specs as JSON. A node that
 * is saved again before it was written is written once. A row that this version can't read (the
 * shape of facts or specs changed) counts as not remembered and says so in the log: the agent sends
 * it all again when it dials.
 */
final class StoredFleetMemory implements FleetMemory {

  private static final Logger LOG = System.getLogger(StoredFleetMemory.class.getName());

  private static final JsonMapper JSON =
      JsonMapper.builder()
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .disable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
          .build();

  private final Store store;

  StoredFleetMemory(Store store) {
    this.store = store;
  }

  /**
   * @throws IllegalStateException where the database can't be read: this is asked once, at the
   *     start, and a hub that forgot its workers would stop them
   */
  @Override
  public List<RememberedNode> nodes() {
    try {
      return store.read("the nodes", StoredFleetMemory::select);
    } catch (StoreFailed e) {
      throw new IllegalStateException(e.sentence(), e);
    }
  }

  @Override
  public void save(RememberedNode node) {
    store.writeLatest(node.name(), handle -> upsert(handle, node));
  }

  private static List<RememberedNode> select(Handle handle) {
    return handle
        .createQuery("SELECT * FROM nodes ORDER BY name")
        .map((row, context) -> {
          String name = row.getString("name");
          return new RememberedNode(
              name,
              row.getString("agent_id"),
              row.getLong("generation"),
              row.getString("agent_version"),
              read(row.getString("facts"), NodeFacts.class, "the facts of node " + name),
              row.getString("drained_by"),
              workers(handle, name));
        })
        .list();
  }

  private static List<RememberedWorker> workers(Handle handle, String node) {
    List<RememberedWorker> workers = new ArrayList<>();
    handle
        .createQuery(
            "SELECT worker, spec, generation, drained_by FROM assignments WHERE node = ? ORDER BY worker")
        .bind(0, node)
        .map((row, context) -> {
          long generation = row.getLong(3);
          String drainedBy = row.getString(4);
          return read(row.getString(2), WorkerSpec.class, "worker " + row.getString(1))
              .map(spec -> new RememberedWorker(spec, generation, drainedBy));
        })
        .forEach(worker -> worker.ifPresent(workers::add));
    return workers;
  }

  private static <T> Optional<T> read(@Nullable String json, Class<T> kind, String what) {
    if (json == null) {
      return Optional.empty();
    }
    try {
      return Optional.of(JSON.readValue(json, kind));
    } catch (JacksonException | NullPointerException e) {
      LOG.log(Level.WARNING, "The store does not understand what it kept of " + what, e);
      return Optional.empty();
    }
  }

  private static void upsert(Handle handle, RememberedNode node) {
    @Nullable String facts = node.facts().map(JSON::writeValueAsString).orElse(null);
    int written =
        handle
            .createUpdate(
                "INSERT INTO nodes (name, agent_id, enrolled_at, generation, agent_version, facts,"
                    + " drained_by) VALUES (?, ?, 0, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET"
                    + " generation = excluded.generation, agent_version = excluded.agent_version,"
                    + " facts = coalesce(excluded.facts, facts), drained_by = excluded.drained_by"
                    // The word of an agent that lost the name since must not reach its successor.
                    + " WHERE agent_id = excluded.agent_id")
            .bind(0, node.name())
            .bind(1, node.agentId())
            .bind(2, node.generation())
            .bind(3, node.agentVersion())
            .bind(4, facts)
            .bind(5, node.drainedBy())
            .execute();
    if (written == 0) {
      return;
    }
    handle.execute("DELETE FROM assignments WHERE node = ?", node.name());
    for (RememberedWorker worker : node.workers()) {
      handle.execute(
          "INSERT OR REPLACE INTO assignments (worker, node, spec, generation, drained_by)"
              + " VALUES (?, ?, ?, ?, ?)",
          worker.spec().id(),
          node.name(),
          JSON.writeValueAsString(worker.spec()),
          worker.generation(),
          worker.drainedBy());
    }
  }
}
