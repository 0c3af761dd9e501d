package dev.flotilla.hub.store;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jdbi.v3.core.Handle;

/** Nodes that may dial, with the hashes of their credentials. */
public final class NodeTable {

  /**
   * A node's right to dial.
   *
   * @param agentId the agent that the credential was given to
   */
  public record StoredCredential(String node, String agentId, SecretHash credentialHash) {}

  /** What came of an enrolment. */
  public enum EnrolResult {
    ENROLLED,
    /** Another agent holds the name. */
    NAME_TAKEN,
    /** No such token. */
    NO_TOKEN,
    /** The token's time is over. */
    TOKEN_EXPIRED,
    /** The token was used as often as it may be. */
    TOKEN_USED
  }

  private final Store store;

  NodeTable(Store store) {
    this.store = store;
  }

  public List<StoredCredential> credentials() throws StoreFailed {
    return store.read(
        "the nodes",
        handle ->
            handle
                .createQuery(
                    "SELECT name, agent_id, credential_hash FROM nodes WHERE credential_hash IS NOT NULL")
                .map((row, context) ->
                    new StoredCredential(
                        row.getString(1), row.getString(2), new SecretHash(row.getString(3))))
                .list());
  }

  /**
   * Uses up one use of the token and gives the node its credential, both or neither. The token is
   * not used up where the name is taken.
   *
   * @param tokenHash empty where the token was looked at already
   */
  public EnrolResult enrol(StoredCredential credential, Optional<SecretHash> tokenHash)
      throws StoreFailed {
    Instant at = store.now();
    return store.write(
        "the enrolment of node " + credential.node(),
        handle -> {
          if (taken(handle, credential)) {
            return EnrolResult.NAME_TAKEN;
          }
          if (tokenHash.isPresent()) {
            EnrolResult token = useToken(handle, tokenHash.get(), at);
            if (token != EnrolResult.ENROLLED) {
              return token;
            }
          }
          handle.execute(
              "INSERT INTO nodes (name, agent_id, credential_hash, enrolled_at) VALUES (?, ?, ?, ?)"
                  + " ON CONFLICT (name) DO UPDATE SET credential_hash = excluded.credential_hash,"
                  + " enrolled_at = excluded.enrolled_at",
              credential.node(),
              credential.agentId(),
              credential.credentialHash().hex(),
              at.toEpochMilli());
          return EnrolResult.ENROLLED;
        });
  }

  private static boolean taken(Handle handle, StoredCredential credential) {
    return handle
        .createQuery("SELECT agent_id FROM nodes WHERE name = ?")
        .bind(0, credential.node())
        .mapTo(String.class)
        .findOne()
        .filter(holder -> !holder.equals(credential.agentId()))
        .isPresent();
  }

  private static EnrolResult useToken(Handle handle, SecretHash hash, Instant at) {
    record Row(long id, long expires, long uses) {}
    Optional<Row> found =
        handle
            .createQuery(
                "SELECT id, coalesce(expires_at, 9223372036854775807), coalesce(uses_left, -1)"
                    + " FROM enrolment_tokens WHERE hash = ?")
            .bind(0, hash.hex())
            .map((row, context) -> new Row(row.getLong(1), row.getLong(2), row.getLong(3)))
            .findOne();
    if (found.isEmpty()) {
      return EnrolResult.NO_TOKEN;
    }
    Row token = found.get();
    if (token.expires() <= at.toEpochMilli()) {
      return EnrolResult.TOKEN_EXPIRED;
    }
    if (token.uses() == 0) {
      return EnrolResult.TOKEN_USED;
    }
    if (token.uses() > 0) {
      handle.execute(
          "UPDATE enrolment_tokens SET uses_left = uses_left - 1 WHERE id = ?", token.id());
    }
    return EnrolResult.ENROLLED;
  }

  /** Takes a node's name and credential back, with what was placed on it; false where unknown. */
  public boolean forget(String node) throws StoreFailed {
    return store.write(
        "that node " + node + " is forgotten",
        handle -> handle.execute("DELETE FROM nodes WHERE name = ?", node) == 1);
  }
}
