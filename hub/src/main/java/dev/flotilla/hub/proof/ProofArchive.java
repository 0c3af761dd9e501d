package dev.flotilla.hub.proof;

import dev.flotilla.hub.store.ProofTable;
import dev.flotilla.hub.store.StoreFailed;
import dev.flotilla.hub.store.StoredProof;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * The proofs that were made and the references that were accepted: in memory for whoever asks, in
 * the store for the next start of the hub.
 *
 * <p>A store that fails costs the memory of it, not the proof: what could not be written is known
 * until the hub ends. Bound: the {@link #KEPT} newest proofs. Concurrency: one lock, under which
 * nothing waits; the store is written outside it, by the thread that brings the proof.
 */
public final class ProofArchive {
  static final int KEPT = 1_000;
  private static final JsonMapper MAPPER = JsonMapper.builder().build();
  private static final System.Logger LOG = System.getLogger(ProofArchive.class.getName());

  private final ProofTable table;
  private final InstantSource clock;
  private final Duration reuse;
  private final Deque<ProofRecord> newestFirst = new ArrayDeque<>();
  private final Map<String, Evidence> references = new HashMap<>();

  private ProofArchive(ProofTable table, InstantSource clock, Duration reuse) {
    this.table = table;
    this.clock = clock;
    this.reuse = reuse;
  }

  /**
   * With what the store has.
   *
   * @param reuse how long a proof stands for equal workers
   * @throws StoreFailed where it can't be read
   */
  public static ProofArchive open(ProofTable table, InstantSource clock, Duration reuse)
      throws StoreFailed {
    ProofArchive archive = new ProofArchive(table, clock, reuse);
    for (StoredProof stored : table.newest(KEPT)) {
      archive.read(stored.document(), ProofRecord.class).ifPresent(archive.newestFirst::addLast);
    }
    table
        .references()
        .forEach((model, document) ->
            archive
                .read(document, Evidence.class)
                .ifPresent(found -> archive.references.put(model, found)));
    return archive;
  }

  /** A document of an earlier program that is not understood any more counts for nothing. */
  private <T> Optional<T> read(String document, Class<T> type) {
    try {
      return Optional.of(MAPPER.readValue(document, type));
    } catch (JacksonException e) {
      LOG.log(System.Logger.Level.WARNING, "a stored proof can't be read: " + e.getMessage());
      return Optional.empty();
    }
  }

  void add(ProofRecord proof) {
    synchronized (this) {
      newestFirst.addFirst(proof);
      while (newestFirst.size() > KEPT) {
        newestFirst.removeLast();
      }
    }
    try {
      table.add(
          new StoredProof(
              proof.at(),
              proof.worker(),
              proof.model(),
              proof.passed(),
              MAPPER.writeValueAsString(proof)));
    } catch (StoreFailed e) {
      LOG.log(System.Logger.Level.WARNING, "a proof was not stored: " + e.sentence());
    }
  }

  void accept(String model, Evidence reference, String worker) {
    synchronized (this) {
      references.put(model, reference);
    }
    try {
      table.reference(model, clock.instant(), worker, MAPPER.writeValueAsString(reference));
    } catch (StoreFailed e) {
      LOG.log(System.Logger.Level.WARNING, "a reference was not stored: " + e.sentence());
    }
  }

  synchronized Optional<Evidence> reference(String model) {
    return Optional.ofNullable(references.get(model));
  }

  /**
   * A proof that stands for the launch: its own, or the finished one of an equal worker. The last
   * word on the key counts: after a refusal nothing stands.
   */
  synchronized Optional<ProofRecord> standing(String key, String worker, long generation) {
    Instant since = clock.instant().minus(reuse);
    for (ProofRecord proof : newestFirst) {
      if (proof.at().isBefore(since)) {
        return Optional.empty();
      }
      if (proof.key().equals(key)) {
        boolean own = proof.worker().equals(worker) && proof.generation() == generation;
        if (!proof.passed()) {
          return Optional.empty();
        }
        if (own || proof.finished()) {
          return Optional.of(proof);
        }
      }
    }
    return Optional.empty();
  }

  /** Whether an equal worker passed of late, measured or not yet. */
  synchronized boolean hasTwin(String key) {
    Instant since = clock.instant().minus(reuse);
    return newestFirst.stream()
        .filter(proof -> proof.key().equals(key) && !proof.at().isBefore(since))
        .findFirst()
        .filter(ProofRecord::passed)
        .isPresent();
  }

  /** The newest proofs, newest first. */
  public synchronized List<ProofRecord> newest(int count) {
    return newestFirst.stream().limit(count).toList();
  }

  /** The newest proofs of one worker, newest first. */
  public synchronized List<ProofRecord> of(String worker, int count) {
    return newestFirst.stream()
        .filter(proof -> proof.worker().equals(worker))
        .limit(count)
        .toList();
  }

  /** The newest proof of each worker, the newest first. */
  public synchronized List<ProofRecord> latest() {
    Map<String, ProofRecord> latest = new LinkedHashMap<>();
    newestFirst.forEach(proof -> latest.putIfAbsent(proof.worker(), proof));
    return new ArrayList<>(latest.values());
  }
}
