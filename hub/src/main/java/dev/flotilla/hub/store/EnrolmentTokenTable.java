package dev.flotilla.hub.store;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jdbi.v3.core.mapper.RowMapper;
import org.jspecify.annotations.Nullable;

/** Enrolment tokens, as hashes. */
public final class EnrolmentTokenTable {

  /**
   * A token.
   *
   * @param id number by which it is named to people
   * @param note what its maker wrote beside it
   * @param expiresAt empty where it does not end by itself
   * @param usesLeft empty where it may be used any number of times
   */
  public record StoredToken(
      long id,
      String note,
      Instant createdAt,
      Optional<Instant> expiresAt,
      Optional<Integer> usesLeft) {}

  private static final RowMapper<StoredToken> ROW =
      (row, context) ->
          new StoredToken(
              row.getLong("id"),
              row.getString("note"),
              Instant.ofEpochMilli(row.getLong("created_at")),
              optional(row, "expires_at").map(Instant::ofEpochMilli),
              optional(row, "uses_left").map(Long::intValue));

  private final Store store;

  EnrolmentTokenTable(Store store) {
    this.store = store;
  }

  private static Optional<Long> optional(ResultSet row, String column) throws SQLException {
    long value = row.getLong(column);
    return row.wasNull() ? Optional.empty() : Optional.of(value);
  }

  public StoredToken add(
      SecretHash hash, String note, Optional<Instant> expiresAt, Optional<Integer> usesLeft)
      throws StoreFailed {
    Instant at = store.now();
    @Nullable Long ends = expiresAt.map(Instant::toEpochMilli).orElse(null);
    @Nullable Integer uses = usesLeft.orElse(null);
    return store.write(
        "the token",
        handle ->
            handle
                .createQuery(
                    "INSERT INTO enrolment_tokens (hash, note, created_at, expires_at, uses_left)"
                        + " VALUES (?, ?, ?, ?, ?) RETURNING *")
                .bind(0, hash.hex())
                .bind(1, note)
                .bind(2, at.toEpochMilli())
                .bind(3, ends)
                .bind(4, uses)
                .map(ROW)
                .one());
  }

  /** False where there is no such token. */
  public boolean remove(long id) throws StoreFailed {
    return store.write(
        "the revocation of token " + id,
        handle -> handle.execute("DELETE FROM enrolment_tokens WHERE id = ?", id) == 1);
  }

  public List<StoredToken> all() throws StoreFailed {
    return store.read(
        "the tokens",
        handle -> handle.createQuery("SELECT * FROM enrolment_tokens ORDER BY id").map(ROW).list());
  }

  public int count() throws StoreFailed {
    return store.read(
        "the tokens",
        handle ->
            handle.createQuery("SELECT count(*) FROM enrolment_tokens").mapTo(Integer.class).one());
  }
}
