package dev.flotilla.hub.keys;

import dev.flotilla.hub.keys.EnrolmentTokens.OneShot;
import dev.flotilla.hub.lanes.NodeCredentials;
import dev.flotilla.hub.store.NodeTable;
import dev.flotilla.hub.store.NodeTable.EnrolResult;
import dev.flotilla.hub.store.NodeTable.StoredCredential;
import dev.flotilla.hub.store.SecretHash;
import dev.flotilla.hub.store.Store;
import dev.flotilla.hub.store.StoreFailed;
import dev.flotilla.wire.text.Names;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Which nodes may dial. A credential is {@code fn-} and 32 random characters; the agent keeps it,
 * the hub keeps its hash.
 *
 * <p><b>Invariants.</b> {@code credentials} holds what is committed and nothing else. A use of a
 * token and the node that it took in are one transaction: neither exists without the other. A name
 * belongs to the agent that enrolled it until it is forgotten; the same agent may enrol again and
 * gets a new credential in place of the old.
 */
public final class EnrolledNodes implements NodeCredentials {

  private static final int AGENT_ID_CHARS_MAX = 128;

  private final NodeTable table;
  private final EnrolmentTokens tokens;
  private final RandomGenerator random;
  // Held over commit and map together, so that the map changes in the order of the commits.
  private final ReentrantLock changing = new ReentrantLock();
  private final Map<String, StoredCredential> credentials = new ConcurrentHashMap<>();

  /**
   * @param random a source that nobody can predict, such as {@link java.security.SecureRandom}
   * @throws StoreFailed where the nodes can't be read
   */
  public EnrolledNodes(Store store, EnrolmentTokens tokens, RandomGenerator random)
      throws StoreFailed {
    this.table = store.nodes();
    this.tokens = tokens;
    this.random = random;
    for (StoredCredential credential : table.credentials()) {
      credentials.put(credential.node(), credential);
    }
  }

  @Override
  public Optional<String> verify(String node, String credential) {
    if (!Secrets.NODE_CREDENTIAL.wellFormed(credential)) {
      return Optional.empty();
    }
    @Nullable StoredCredential known = credentials.get(node);
    if (known == null || !known.credentialHash().sameAs(SecretHash.of(credential))) {
      return Optional.empty();
    }
    return Optional.of(known.agentId());
  }

  @Override
  public Enrolment enrol(String token, String node, String agentId) {
    Optional<String> problem = Names.nodeProblem(node);
    if (problem.isPresent()) {
      return new Enrolment.BadToken(problem.get() + ".");
    }
    if (agentId.isEmpty() || agentId.length() > AGENT_ID_CHARS_MAX) {
      return new Enrolment.BadToken(
          "An agent's id has 1 to %d characters, not %d."
              .formatted(AGENT_ID_CHARS_MAX, agentId.length()));
    }
    if (!Secrets.ENROLMENT_TOKEN.wellFormed(token)) {
      return new Enrolment.BadToken("This is not an enrolment token.");
    }
    SecretHash hash = SecretHash.of(token);
    changing.lock();
    try {
      Optional<OneShot> oneShot = tokens.takeOneShot(hash);
      Enrolment enrolment =
          enrol(node, agentId, oneShot.isPresent() ? Optional.empty() : Optional.of(hash));
      if (!(enrolment instanceof Enrolment.Enrolled)) {
        oneShot.ifPresent(tokens::giveBack);
      }
      return enrolment;
    } finally {
      changing.unlock();
    }
  }

  private Enrolment enrol(String node, String agentId, Optional<SecretHash> token) {
    String secret = Secrets.NODE_CREDENTIAL.make(random);
    StoredCredential credential = new StoredCredential(node, agentId, SecretHash.of(secret));
    EnrolResult result;
    try {
      result = table.enrol(credential, token);
    } catch (StoreFailed e) {
      return new Enrolment.NotNow(e.sentence());
    }
    return switch (result) {
      case ENROLLED -> {
        credentials.put(node, credential);
        yield new Enrolment.Enrolled(secret);
      }
      case NAME_TAKEN -> new Enrolment.NameTaken();
      case NO_TOKEN ->
          new Enrolment.BadToken("This hub has no such enrolment token, or it was revoked.");
      case TOKEN_EXPIRED -> new Enrolment.BadToken("The enrolment token's time is over.");
      case TOKEN_USED ->
          new Enrolment.BadToken("The enrolment token was used as often as it may be.");
    };
  }

  /**
   * Gives a node's name free for another agent, and forgets its credential; false where there is no
   * such node. A lane that is open stays so until it ends.
   */
  public boolean forget(String node) throws StoreFailed {
    changing.lock();
    try {
      boolean known = table.forget(node);
      credentials.remove(node);
      return known;
    } finally {
      changing.unlock();
    }
  }
}
