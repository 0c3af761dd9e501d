package dev.flotilla.hub.store;

import java.time.Instant;
import java.util.List;
import org.jdbi.v3.core.mapper.RowMapper;

/** The usage log: one row a request. Rows get here through the {@link Journal}. */
public final class UsageTable {

  /**
   * Requests of one model, worker or key together.
   *
   * @param name of the model, worker, backend or key
   * @param ok requests whose outcome was {@code ok}
   * @param promptTokens as far as the engines said
   * @param completionTokens as far as the engines said
   * @param firstByteMicrosMean over the requests that had a first byte, 0 where none had
   */
  public record Summary(
      String name,
      long requests,
      long ok,
      long promptTokens,
      long completionTokens,
      long firstByteMicrosMean) {}

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

  private static final RowMapper<Summary> SUMMARY =
      (row, context) ->
          new Summary(
              row.getString("name"),
              row.getLong("requests"),
              row.getLong("ok"),
              row.getLong("prompt"),
              row.getLong("completion"),
              row.getLong("first_byte"));

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

  /** Sums of everything since {@code since}, the most used first. */
  public List<Summary> summaries(By by, Instant since, int limit) throws StoreFailed {
    String sql =
        """
        SELECT %s AS name, count(*) AS requests,
          sum(outcome = 'ok') AS ok,
          sum(max(prompt_tokens, 0)) AS prompt,
          sum(max(completion_tokens, 0)) AS completion,
          CAST(coalesce(avg(CASE WHEN first_byte_micros >= 0 THEN first_byte_micros END), 0) AS INTEGER) AS first_byte
        FROM usage WHERE at >= ? GROUP BY name ORDER BY requests DESC, name LIMIT ?
        """
            .formatted(by.column);
    return store.read(
        "the usage",
        handle ->
            handle
                .createQuery(sql)
                .bind(0, since.toEpochMilli())
                .bind(1, store.rows(limit))
                .map(SUMMARY)
                .list());
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
}
