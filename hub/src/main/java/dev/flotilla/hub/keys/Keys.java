package dev.flotilla.hub.keys;

import dev.flotilla.hub.gateway.Authenticator;
import dev.flotilla.hub.gateway.ClientKey;
import dev.flotilla.hub.store.ClientKeyTable;
import dev.flotilla.hub.store.ClientKeyTable.StoredKey;
import dev.flotilla.hub.store.SecretHash;
import dev.flotilla.hub.store.Store;
import dev.flotilla.hub.store.StoreFailed;
import dev.flotilla.wire.text.Names;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;

/**
 * The client keys. A key is {@code fl-} and 32 random characters; it is shown once, when it is
 * made, and only its hash is kept.
 *
 * <p><b>Invariants.</b> {@code active} holds exactly the keys whose creation was committed and
 * whose revocation was not: it is read whole at the start and replaced after each commit, never
 * before. So a request is answered from memory and never waits for the store, and a key that a
 * person was shown works after a kill.
 *
 * <p><b>Concurrency.</b> {@code active} is an immutable map behind a volatile field. Changes take
 * {@code changing} in turn, and park there while the store commits.
 *
 * <p><b>Looking up.</b> A bearer token of the wrong form is refused at once. Any other is hashed
 * and the hash looked up; how long that takes depends on the hash alone, from which the key can't
 * be approached character by character.
 */
public final class Keys implements Authenticator {

  /** Keys that may exist at once. */
  public static final int KEYS_MAX = 10_000;

  /** What a key allows. */
  public enum Role {
    /** {@code /v1} alone. */
    CLIENT,
    /** {@code /api} too. */
    ADMIN;

    /** The word on the command line and in listings. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** The role of a word, empty for a word that is none. */
    public static Optional<Role> of(String word) {
      return List.of(values()).stream().filter(role -> role.word().equals(word)).findFirst();
    }
  }

  /** A key as it is listed. */
  public record Key(String name, Role role, Instant createdAt) {}

  /** What came of the wish for a new key. */
  public sealed interface Creation {

    /** Made; the secret is told this once. */
    record Created(Key key, String secret) implements Creation {
      /** The secret is left out: a result may be logged. */
      @Override
      public String toString() {
        return "Created[" + key + "]";
      }
    }

    /**
     * Not made.
     *
     * @param why one sentence
     */
    record Refused(String why) implements Creation {}
  }

  /** What came of the wish to revoke a key. */
  public sealed interface Revocation {

    /** It is no key any more, for all requests that come after. */
    record Revoked() implements Revocation {}

    /** There is none of that name. */
    record Unknown() implements Revocation {}

    /**
     * Not revoked.
     *
     * @param why one sentence
     */
    record Refused(String why) implements Revocation {}
  }

  private final ClientKeyTable table;
  private final boolean required;
  private final InstantSource clock;
  private final RandomGenerator random;
  private final ReentrantLock changing = new ReentrantLock();
  private volatile Map<SecretHash, Key> active;

  /**
   * @param required whether requests without a key are refused
   * @param random a source that nobody can predict, such as {@link java.security.SecureRandom}
   * @throws StoreFailed where the keys can't be read
   */
  public Keys(Store store, boolean required, InstantSource clock, RandomGenerator random)
      throws StoreFailed {
    this.table = store.clientKeys();
    this.required = required;
    this.clock = clock;
    this.random = random;
    Map<SecretHash, Key> loaded = new HashMap<>();
    for (StoredKey key : table.all()) {
      Role role = Role.of(key.role()).orElse(Role.CLIENT);
      loaded.put(key.hash(), new Key(key.name(), role, key.createdAt()));
    }
    this.active = Map.copyOf(loaded);
  }

  @Override
  public boolean required() {
    return required;
  }

  @Override
  public Optional<ClientKey> authenticate(String bearer) {
    return find(bearer).map(key -> new ClientKey(key.name()));
  }

  /** The key of a bearer token with its role; empty for one unknown, revoked or malformed. */
  public Optional<Key> find(String bearer) {
    if (!Secrets.CLIENT_KEY.wellFormed(bearer)) {
      return Optional.empty();
    }
    return Optional.ofNullable(active.get(SecretHash.of(bearer)));
  }

  /** All keys, by name. */
  public List<Key> list() {
    return active.values().stream().sorted(Comparator.comparing(Key::name)).toList();
  }

  /** Makes a key and returns after it is stored. */
  public Creation create(String name, Role role) throws StoreFailed {
    Optional<String> problem = Names.keyProblem(name);
    if (problem.isPresent()) {
      return new Creation.Refused(problem.get());
    }
    changing.lock();
    try {
      if (active.size() >= KEYS_MAX) {
        return new Creation.Refused(
            "there are %d keys already, which is the limit: revoke some".formatted(KEYS_MAX));
      }
      String secret = Secrets.CLIENT_KEY.make(random);
      SecretHash hash = SecretHash.of(secret);
      // The store keeps milliseconds; the listing must not change with a restart.
      Key key = new Key(name, role, Instant.ofEpochMilli(clock.millis()));
      if (!table.add(new StoredKey(name, hash, role.word(), key.createdAt()))) {
        return new Creation.Refused(
            "there is a key named %s already: revoke it first, or choose another name"
                .formatted(name));
      }
      Map<SecretHash, Key> next = new HashMap<>(active);
      next.put(hash, key);
      active = Map.copyOf(next);
      return new Creation.Created(key, secret);
    } finally {
      changing.unlock();
    }
  }

  /**
   * Takes a key back.
   *
   * @param force even where nobody could command the hub any more: the last admin key while keys
   *     are demanded, now or, because others are left, from the next start on
   */
  public Revocation revoke(String name, boolean force) throws StoreFailed {
    changing.lock();
    try {
      if (!force && isLastAdmin(name)) {
        return new Revocation.Refused(
            "%s is the last admin key: without one nobody can configure this hub. Make another first ('flotilla keys create --admin NAME'), or revoke it all the same with --force"
                .formatted(name));
      }
      boolean removed = table.remove(name);
      Map<SecretHash, Key> next = new HashMap<>(active);
      next.values().removeIf(key -> key.name().equals(name));
      active = Map.copyOf(next);
      return removed ? new Revocation.Revoked() : new Revocation.Unknown();
    } finally {
      changing.unlock();
    }
  }

  private boolean isLastAdmin(String name) {
    List<String> admins =
        active.values().stream().filter(key -> key.role() == Role.ADMIN).map(Key::name).toList();
    return admins.equals(List.of(name)) && (required || active.size() > 1);
  }
}
