package dev.flotilla.hub.store;

import java.time.Instant;
import java.util.List;
import org.jdbi.v3.core.mapper.RowMapper;

/** Client keys, as hashes. */
public final class ClientKeyTable {

  /**
   * A key.
   *
   * @param role {@code client} or {@code admin}
   */
  public record StoredKey(String name, SecretHash hash, String role, Instant createdAt) {}

  private static final RowMapper<StoredKey> ROW =
      (row, context) ->
          new StoredKey(
              row.getString("name"),
              new SecretHash(row.getString("hash")),
              row.getString("role"),
              Instant.ofEpochMilli(row.getLong("created_at")));

  private final Store store;

  ClientKeyTable(Store store) {
    this.store = store;
  }

  /** False where the name is taken. */
  public boolean add(StoredKey key) throws StoreFailed {
    return store.write(
        "key " + key.name(),
        handle ->
            handle.execute(
                    "INSERT INTO client_keys (name, hash, role, created_at) VALUES (?, ?, ?, ?)"
                        + " ON CONFLICT (name) DO NOTHING",
                    key.name(),
                    key.hash().hex(),
                    key.role(),
                    key.createdAt().toEpochMilli())
                == 1);
  }

  /** False where there is no such key. */
  public boolean remove(String name) throws StoreFailed {
    return store.write(
        "the revocation of key " + name,
        handle -> handle.execute("DELETE FROM client_keys WHERE name = ?", name) == 1);
  }

  public List<StoredKey> all() throws StoreFailed {
    return store.read(
        "the keys",
        handle -> handle.createQuery("SELECT * FROM client_keys ORDER BY name").map(ROW).list());
  }
}
