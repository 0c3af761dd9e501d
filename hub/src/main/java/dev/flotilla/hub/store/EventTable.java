package dev.flotilla.hub.store;

import dev.flotilla.wire.lanes.ControlMessage.Severity;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.mapper.RowMapper;
import org.jdbi.v3.core.statement.Query;

/** The event log. Events get here through the {@link Journal}. */
public final class EventTable {

  /**
   * Which events are wanted.
   *
   * @param subject only what happened to this worker, node, model, key or revision
   * @param kind only this kind
   * @param atLeast only what matters this much or more
   */
  public record Filter(Optional<String> subject, Optional<String> kind, Severity atLeast) {
    public static final Filter ALL = new Filter(Optional.empty(), Optional.empty(), Severity.INFO);

    public static Filter of(String subject) {
      return new Filter(Optional.of(subject), Optional.empty(), Severity.INFO);
    }
  }

  private static final RowMapper<Event> ROW =
      (row, context) ->
          new Event(
              row.getLong("id"),
              Instant.ofEpochMilli(row.getLong("at")),
              Severity.valueOf(row.getString("severity")),
              row.getString("kind"),
              row.getString("subject"),
              row.getString("message"));

  private final Store store;

  EventTable(Store store) {
    this.store = store;
  }

  /** The events that come after {@code id}, oldest first. */
  public List<Event> after(long id, int limit, Filter filter) throws StoreFailed {
    return select("id > " + id, "ASC", limit, filter);
  }

  /** The newest events, newest first. */
  public List<Event> newest(int limit, Filter filter) throws StoreFailed {
    return select("TRUE", "DESC", limit, filter);
  }

  private List<Event> select(String condition, String order, int limit, Filter filter)
      throws StoreFailed {
    return store.read("the events", handle -> select(handle, condition, order, limit, filter));
  }

  private List<Event> select(
      Handle handle, String condition, String order, int limit, Filter filter) {
    List<String> conditions = new ArrayList<>(List.of(condition, "severity IN (<severities>)"));
    filter.subject().ifPresent(subject -> conditions.add("subject = :subject"));
    filter.kind().ifPresent(kind -> conditions.add("kind = :kind"));
    Query query =
        handle.createQuery(
            "SELECT * FROM events WHERE "
                + String.join(" AND ", conditions)
                + " ORDER BY id "
                + order
                + " LIMIT :limit");
    filter.subject().ifPresent(subject -> query.bind("subject", subject));
    filter.kind().ifPresent(kind -> query.bind("kind", kind));
    List<String> severities =
        Arrays.stream(Severity.values())
            .filter(severity -> severity.compareTo(filter.atLeast()) >= 0)
            .map(Severity::name)
            .toList();
    return query
        .bindList("severities", severities)
        .bind("limit", store.rows(limit))
        .map(ROW)
        .list();
  }
}
