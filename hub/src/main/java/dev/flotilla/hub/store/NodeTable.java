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
          // The token first: who has none learns nothing of names.
          if (tokenHash.isPresent()) {
            EnrolResult token = lookAtToken(handle, tokenHash.get(), at);
            if (token != EnrolResult.ENROLLED) {
              return token;
            }
          }
          if (taken(handle, credential)) {
            return EnrolResult.NAME_TAKEN;
          }
          if (tokenHash.isPresent()) {
            handle.execute(
                "UPDATE enrolment_tokens SET uses_left = uses_left - 1"
                    + " WHERE hash = ? AND uses_left > 0",
                tokenHash.get().hex());
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

  /** Whether the token may be used now; ENROLLED where it may. */
  private static EnrolResult lookAtToken(Handle handle, SecretHash hash, Instant at) {
    record Row(long expires, long uses) {}
    Optional<Row> found =
        handle
            .createQuery(
                "SELECT coalesce(expires_at, 9223372036854775807), coalesce(uses_left, -1)"
                    + " FROM enrolment_tokens WHERE hash = ?")
            .bind(0, hash.hex())
            .map((row, context) -> new Row(row.getLong(1), row.getLong(2)))
            .findOne();
    if (found.isEmpty()) {
      return EnrolResult.NO_TOKEN;
    }
    Row token = found.get();
    if (token.expires() <= at.toEpochMilli()) {
      return EnrolResult.TOKEN_EXPIRED;
    }
    return token.uses() == 0 ? EnrolResult.TOKEN_USED : EnrolResult.ENROLLED;
  }

  /** Takes a node's name and credential back, with what was placed on it; false where unknown. */
  public boolean forget(String node) throws StoreFailed {
    return store.write(
        "that node " + node + " is forgotten",
        handle -> handle.execute("DELETE FROM nodes WHERE name = ?", node) == 1);
  }
}
