package dev.flotilla.hub.store;

import dev.flotilla.hub.store.StoredReport.Figure;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.mapper.RowMapper;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reports of measurements, each with its summary and its page. Both ways to change the table answer
 * with the heads of what is in it afterwards, newest first, read in the same transaction.
 */
public final class ReportTable {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();
  private static final TypeReference<List<Figure>> FIGURES = new TypeReference<>() {};
  private static final String HEADS =
      "SELECT id, at, author, kind, title, model, figures, bytes FROM reports ORDER BY id DESC";

  private static final RowMapper<StoredReport> HEAD =
      (row, context) ->
          new StoredReport(
              row.getLong("id"),
              Instant.ofEpochMilli(row.getLong("at")),
              row.getString("author"),
              row.getString("kind"),
              row.getString("title"),
              row.getString("model"),
              MAPPER.readValue(row.getString("figures"), FIGURES),
              row.getLong("bytes"));

  private final Store store;

  ReportTable(Store store) {
    this.store = store;
  }

  /** The heads of all, newest first. */
  public List<StoredReport> heads() throws StoreFailed {
    return store.read("the reports", ReportTable::select);
  }

  /**
   * Stores a report; the oldest go where there are more than {@link StoreLimits.Kept#reports()} of
   * them, or where all are larger than {@link StoreLimits.Kept#reportBytes()}. The new one stays.
   *
   * @param head its number and its size are given here and not read
   * @param summary a JSON object
   * @param html a page
   */
  public List<StoredReport> add(StoredReport head, String summary, String html) throws StoreFailed {
    byte[] page = html.getBytes(StandardCharsets.UTF_8);
    long bytes = page.length + (long) summary.getBytes(StandardCharsets.UTF_8).length;
    return store.write(
        "the report",
        handle -> {
          handle
              .createUpdate(
                  """
                  INSERT INTO reports (at, author, kind, title, model, figures, bytes, summary, html)
                  VALUES (:at, :by, :kind, :title, :model, :figures, :bytes, :summary, :html)
                  """)
              .bind("at", head.at().toEpochMilli())
              .bind("by", head.by())
              .bind("kind", head.kind())
              .bind("title", head.title())
              .bind("model", head.model())
              .bind("figures", MAPPER.writeValueAsString(head.figures()))
              .bind("bytes", bytes)
              .bind("summary", summary)
              .bind("html", page)
              .execute();
          prune(handle, store.limits().kept());
          return select(handle);
        });
  }

  private static void prune(Handle handle, StoreLimits.Kept kept) {
    handle.execute(
        """
        DELETE FROM reports WHERE id IN (
          SELECT id FROM (
            SELECT id, row_number() OVER newest AS place, sum(bytes) OVER newest AS together
            FROM reports WINDOW newest AS (ORDER BY id DESC))
          WHERE place > 1 AND (place > ? OR together > ?))
        """,
        kept.reports(),
        kept.reportBytes());
  }

  /** Deletes a report; one that is not there is nothing to delete. */
  public List<StoredReport> remove(long id) throws StoreFailed {
    return store.write(
        "the end of report " + id,
        handle -> {
          handle.execute("DELETE FROM reports WHERE id = ?", id);
          return select(handle);
        });
  }

  /** The summary of a report, a JSON object. */
  public Optional<String> summary(long id) throws StoreFailed {
    return column("summary", String.class, id);
  }

  /** The page of a report, in UTF-8. */
  public Optional<byte[]> html(long id) throws StoreFailed {
    return column("html", byte[].class, id);
  }

  private <T> Optional<T> column(String name, Class<T> type, long id) throws StoreFailed {
    return store.read(
        "report " + id,
        handle ->
            handle
                .createQuery("SELECT " + name + " FROM reports WHERE id = ?")
                .bind(0, id)
                .mapTo(type)
                .findOne());
  }

  private static List<StoredReport> select(Handle handle) {
    return handle.createQuery(HEADS).map(HEAD).list();
  }
}
