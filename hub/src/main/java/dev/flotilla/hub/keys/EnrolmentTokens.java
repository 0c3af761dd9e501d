package dev.flotilla.hub.keys;

import dev.flotilla.hub.store.EnrolmentTokenTable;
import dev.flotilla.hub.store.EnrolmentTokenTable.StoredToken;
import dev.flotilla.hub.store.SecretHash;
import dev.flotilla.hub.store.Store;
import dev.flotilla.hub.store.StoreFailed;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;

/**
 * Tokens by which new nodes are taken in. A token is {@code ft-} and 32 random characters, shown
 * once; its hash is kept. It may end at a time, after a number of uses, or both.
 *
 * <p>Beside the stored ones, {@link #oneShot()} makes tokens for agents inside the hub's own
 * process, as that of {@code flotilla up}: each lives in memory alone, for one use and for {@link
 * #ONE_SHOT_LIFE}, whatever others were made meanwhile.
 */
public final class EnrolmentTokens {

  /** Tokens that may exist at once. */
  public static final int TOKENS_MAX = 1_000;

  /** One-shot tokens that may be open at once. */
  public static final int ONE_SHOTS_MAX = 64;

  /** How long a one-shot token is good for. */
  public static final Duration ONE_SHOT_LIFE = Duration.ofHours(1);

  /** Uses that a token may have at most. */
  public static final int USES_MAX = 10_000;

  /** How long a token may live at most, where it is to end at all. */
  public static final Duration LIFE_MAX = Duration.ofDays(366);

  /** A note's length at most, characters. */
  public static final int NOTE_CHARS_MAX = 200;

  /** What came of the wish for a new token. */
  public sealed interface Creation {

    /** Made; the secret is told this once. */
    record Created(StoredToken token, String secret) implements Creation {
      /** The secret is left out: a result may be logged. */
      @Override
      public String toString() {
        return "Created[" + token + "]";
      }
    }

    /**
     * Not made.
     *
     * @param why one sentence
     */
    record Refused(String why) implements Creation {}
  }

  private final EnrolmentTokenTable table;
  private final InstantSource clock;
  private final RandomGenerator random;
  private final ReentrantLock oneShotLock = new ReentrantLock();

  /** Those that nobody has used yet, with their ends; a taken one is in none. */
  private final Map<String, OneShot> oneShots = new HashMap<>();

  /** An open one, or one in the hands of an enrolment. */
  record OneShot(SecretHash hash, Instant expiresAt) {}

  /**
   * @param random a source that nobody can predict, such as {@link java.security.SecureRandom}
   */
  public EnrolmentTokens(Store store, InstantSource clock, RandomGenerator random) {
    this.table = store.enrolmentTokens();
    this.clock = clock;
    this.random = random;
  }

  /**
   * Makes a token and returns after it is stored.
   *
   * @param note what its maker wants to read beside it, may be empty
   * @param life how long it is good for; empty for no end
   * @param uses how often it may be used; empty for any number
   */
  public Creation create(String note, Optional<Duration> life, Optional<Integer> uses)
      throws StoreFailed {
    if (uses.isPresent() && (uses.get() < 1 || uses.get() > USES_MAX)) {
      return new Creation.Refused(
          "a token is for 1 to %d uses, not %d".formatted(USES_MAX, uses.get()));
    }
    if (life.isPresent()
        && (life.get().compareTo(Duration.ofSeconds(1)) < 0
            || life.get().compareTo(LIFE_MAX) > 0)) {
      return new Creation.Refused(
          "a token lives for 1 s to %d days, not %d s"
              .formatted(LIFE_MAX.toDays(), life.get().toSeconds()));
    }
    if (note.length() > NOTE_CHARS_MAX || note.chars().anyMatch(Character::isISOControl)) {
      return new Creation.Refused(
          "a note is one line of at most %d characters".formatted(NOTE_CHARS_MAX));
    }
    if (table.count() >= TOKENS_MAX) {
      return new Creation.Refused(
          "there are %d tokens already, which is the limit: revoke some".formatted(TOKENS_MAX));
    }
    String secret = Secrets.ENROLMENT_TOKEN.make(random);
    Optional<Instant> expiresAt = life.map(clock.instant()::plus);
    return new Creation.Created(table.add(SecretHash.of(secret), note, expiresAt, uses), secret);
  }

  /** All stored tokens, oldest first, those that are over included. */
  public List<StoredToken> list() throws StoreFailed {
    return table.all();
  }

  /** Takes a token back; false where there is none of that number. */
  public boolean revoke(long id) throws StoreFailed {
    return table.remove(id);
  }

  /**
   * A token for one use that is never stored. It takes nothing from those made before.
   *
   * @throws IllegalStateException where {@link #ONE_SHOTS_MAX} are open
   */
  public String oneShot() {
    String secret = Secrets.ENROLMENT_TOKEN.make(random);
    SecretHash hash = SecretHash.of(secret);
    Instant now = clock.instant();
    oneShotLock.lock();
    try {
      oneShots.values().removeIf(open -> !now.isBefore(open.expiresAt()));
      if (oneShots.size() >= ONE_SHOTS_MAX) {
        throw new IllegalStateException(
            "there are %d open one-shot tokens already, which is the limit"
                .formatted(ONE_SHOTS_MAX));
      }
      oneShots.put(hash.hex(), new OneShot(hash, now.plus(ONE_SHOT_LIFE)));
    } finally {
      oneShotLock.unlock();
    }
    return secret;
  }

  /** Uses a one-shot token up; empty where this is none, or its time is over. */
  Optional<OneShot> takeOneShot(SecretHash hash) {
    oneShotLock.lock();
    try {
      OneShot open = oneShots.remove(hash.hex());
      return open == null || !clock.instant().isBefore(open.expiresAt())
          ? Optional.empty()
          : Optional.of(open);
    } finally {
      oneShotLock.unlock();
    }
  }

  /** Undoes {@link #takeOneShot} where nobody was enrolled by it. */
  void giveBack(OneShot taken) {
    oneShotLock.lock();
    try {
      oneShots.put(taken.hash().hex(), taken);
    } finally {
      oneShotLock.unlock();
    }
  }
}
