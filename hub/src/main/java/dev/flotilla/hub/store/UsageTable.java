package dev.flotilla.hub.store;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.mapper.RowMapper;

/** The usage log: one row a request. Rows get here through the {@link Journal}. */
public final class UsageTable {

  /**
   * The requests of one model, target or key together, over some time.
   *
   * @param hours the time that it is over, up to now
   * @param ok requests whose outcome was {@code ok}
   * @param failed requests that no target could do, or that were cut after their first byte; what
   *     is in neither was refused or given up by its client
   * @param promptTokens as far as the engines said
   * @param completionTokens as far as the engines said
   * @param firstByteMedianMillis from arrival to the reply's first byte, over the requests that
   *     were ok; 0 where none was
   * @param wholeMedianMillis from arrival to the reply's end, over the same
   */
  public record Summary(
      String name,
      long hours,
      long requests,
      long ok,
      long failed,
      long promptTokens,
      long completionTokens,
      double firstByteMedianMillis,
      double wholeMedianMillis) {}

  /** By what requests are put together. */
  public enum By {
    MODEL("model"),
    TARGET("target"),
    KEY("client_key");

    private final String column;

    By(String column) {
      this.column = column;
    }
  }

  /**
   * Which requests are wanted.
   *
   * @param since those that ended then or later
   * @param model only those that asked for this name
   * @param key only those that this client key made
   */
  public record Filter(Instant since, Optional<String> model, Optional<String> key) {}

  /**
   * A request of the log.
   *
   * @param id its number; a later one has a higher number
   */
  public record Logged(long id, Usage usage) {}

  private static final RowMapper<Usage> ROW =
      (row, context) ->
          new Usage(
              Instant.ofEpochMilli(row.getLong("at")),
              row.getString("request_id"),
              row.getString("client_key"),
              row.getString("model"),
              row.getString("target"),
              row.getString("path"),
              row.getBoolean("streamed"),
              row.getInt("status"),
              row.getString("outcome"),
              row.getInt("attempts"),
              row.getInt("prompt_tokens"),
              row.getInt("completion_tokens"),
              row.getLong("queue_micros"),
              row.getLong("first_byte_micros"),
              row.getLong("total_micros"));

  private final Store store;

  UsageTable(Store store) {
    this.store = store;
  }

  /** The requests of the last {@code time} that have this name. */
  public Summary summary(By by, String name, Duration time) throws StoreFailed {
    long since = store.now().minus(time).toEpochMilli();
    return store.read(
        "the usage of " + name,
        handle ->
            handle
                .createQuery(
                    """
                    SELECT count(*) AS requests,
                      coalesce(sum(outcome = 'ok'), 0) AS ok,
                      coalesce(sum(outcome IN ('failed', 'cut')), 0) AS failed,
                      coalesce(sum(max(prompt_tokens, 0)), 0) AS prompt,
                      coalesce(sum(max(completion_tokens, 0)), 0) AS completion
                    FROM usage WHERE at >= ? AND %s = ?
                    """
                        .formatted(by.column))
                .bind(0, since)
                .bind(1, name)
                .map((row, context) -> {
                  long ok = row.getLong("ok");
                  return new Summary(
                      name,
                      time.toHours(),
                      row.getLong("requests"),
                      ok,
                      row.getLong("failed"),
                      row.getLong("prompt"),
                      row.getLong("completion"),
                      medianMillis(handle, "first_byte_micros", by, name, since, ok),
                      medianMillis(handle, "total_micros", by, name, since, ok));
                })
                .one());
  }

  private static double medianMillis(
      Handle handle, String column, By by, String name, long since, long ok) {
    return handle
            .createQuery(
                "SELECT %1$s FROM usage WHERE at >= ? AND %2$s = ? AND outcome = 'ok' ORDER BY %1$s LIMIT 1 OFFSET ?"
                    .formatted(column, by.column))
            .bind(0, since)
            .bind(1, name)
            .bind(2, Math.max(0, (ok - 1) / 2))
            .mapTo(Long.class)
            .findOne()
            .orElse(0L)
        / 1000.0;
  }

  /** The newest requests, newest first. */
  public List<Usage> newest(int limit) throws StoreFailed {
    return store.read(
        "the usage",
        handle ->
            handle
                .createQuery("SELECT * FROM usage ORDER BY id DESC LIMIT ?")
                .bind(0, store.rows(limit))
                .map(ROW)
                .list());
  }

  /**
   * The requests that come after {@code id} in the log, in the order in which they ended.
   *
   * @param id 0 for the oldest
   */
  public List<Logged> after(long id, int limit, Filter filter) throws StoreFailed {
    return store.read(
        "the usage",
        handle ->
            handle
                .createQuery(
                    """
                    SELECT * FROM usage
                    WHERE id > :id AND at >= :since
                      AND (:model IS NULL OR model = :model)
                      AND (:key IS NULL OR client_key = :key)
                    ORDER BY id LIMIT :limit
                    """)
                .bind("id", id)
                .bind("since", filter.since().toEpochMilli())
                .bind("model", filter.model().orElse(null))
                .bind("key", filter.key().orElse(null))
                .bind("limit", store.rows(limit))
                .map((row, context) -> new Logged(row.getLong("id"), ROW.map(row, context)))
                .list());
  }
}
