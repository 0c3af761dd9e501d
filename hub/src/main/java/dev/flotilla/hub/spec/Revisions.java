package dev.flotilla.hub.spec;

import dev.flotilla.hub.spec.FleetFile.Reading;
import dev.flotilla.hub.spec.SpecDifference.Change;
import dev.flotilla.hub.store.Journal;
import dev.flotilla.hub.store.RevisionTable;
import dev.flotilla.hub.store.RevisionTable.Revision;
import dev.flotilla.hub.store.Store;
import dev.flotilla.hub.store.StoreFailed;
import dev.flotilla.wire.lanes.ControlMessage.Severity;
import dev.flotilla.wire.text.Counted;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Which configuration is in force, and the way to the next one: read, compare, store, activate.
 *
 * <p><b>Invariants.</b> What is in force was stored before it was activated, whole; so after a kill
 * at any moment the hub comes back with the revision that was in force or with the next one that
 * was acknowledged. A rejected file changes nothing but the banner, the counter and the event log;
 * the banner goes with the next good file.
 *
 * <p><b>Concurrency.</b> Changes take {@code changing} in turn and hold it through commit and
 * activation: revisions are activated in the order of their numbers. What is in force is read
 * without a lock.
 */
public final class Revisions {

  private static final String EVENT_REJECTED = "revision-rejected";
  private static final String EVENT_APPLIED = "revision-applied";
  private static final String EVENT_WITHDRAWN = "revision-withdrawn";

  /** Stored revisions that are tried at the start, where the newest can't be read any more. */
  private static final int TRIED_AT_START = 20;

  /** Puts a stored revision into force. Called by one thread at a time; must not throw. */
  public interface Activation {
    void activate(InForce revision);
  }

  /**
   * A configuration in force.
   *
   * @param number the revision, 0 before the first
   * @param at when it was stored
   */
  public record InForce(long number, Instant at, String by, FleetSpec spec) {}

  /** The last file that was refused, until a good one comes. */
  public record Rejection(Instant at, String by, List<Problem> problems) {
    public Rejection {
      problems = List.copyOf(problems);
    }
  }

  /** What came of a file. */
  public sealed interface Outcome {

    /** Refused; the configuration is as it was. */
    record Rejected(Reading.Bad bad) implements Outcome {}

    /** A dry run: this would change. */
    record WouldChange(List<Change> changes) implements Outcome {}

    /** The file says what is in force already. */
    record Unchanged(long revision) implements Outcome {}

    /** Stored and in force. */
    record Applied(long revision, List<Change> changes) implements Outcome {}
  }

  private static final FleetSpec NOTHING =
      new FleetSpec(List.of(), List.of(), List.of(), FleetSpec.Limits.DEFAULT);

  private static final InForce NEVER = new InForce(0, Instant.EPOCH, "", NOTHING);

  private final RevisionTable table;
  private final Journal journal;
  private final InstantSource clock;
  private final Activation activation;
  private final ReentrantLock changing = new ReentrantLock();
  private final AtomicLong rejections = new AtomicLong();
  private volatile InForce inForce;
  private volatile Optional<Rejection> rejection = Optional.empty();

  public Revisions(Store store, Journal journal, InstantSource clock, Activation activation) {
    this.table = store.revisions();
    this.journal = journal;
    this.clock = clock;
    this.activation = activation;
    this.inForce = NEVER;
  }

  /**
   * Puts the newest stored revision into force. One that this program can't read (it was stored by
   * an older one) counts as rejected, and the newest before it that can be read is taken.
   *
   * @return what is in force; number 0 where nothing was ever stored
   */
  public InForce start() throws StoreFailed {
    changing.lock();
    try {
      newestStored().ifPresent(this::activate);
      return inForce;
    } finally {
      changing.unlock();
    }
  }

  private Optional<InForce> newestStored() throws StoreFailed {
    for (Revision revision : table.newest(TRIED_AT_START)) {
      switch (FleetFile.read(revision.yaml(), "revision " + revision.number())) {
        case Reading.Good good -> {
          return Optional.of(
              new InForce(revision.number(), revision.at(), revision.by(), good.spec()));
        }
        case Reading.Bad bad -> reject(bad, revision.by());
      }
    }
    return Optional.empty();
  }

  /**
   * Forgets the revision that is in force, for it never served anything, and puts the one before it
   * back into force; nothing is, where there was none. Another that is in force by now stays.
   *
   * @return whether it was forgotten
   */
  public boolean withdraw(long number) throws StoreFailed {
    changing.lock();
    try {
      if (inForce.number() != number) {
        return false;
      }
      String by = inForce.by();
      table.remove(number);
      activate(newestStored().orElse(NEVER));
      journal.event(
          Severity.INFO,
          EVENT_WITHDRAWN,
          "revision " + number,
          "Revision %d by %s was withdrawn, for none of its workers could start; %s."
              .formatted(
                  number,
                  by,
                  inForce.number() == 0
                      ? "nothing is configured"
                      : "revision " + inForce.number() + " is in force"));
      return true;
    } finally {
      changing.unlock();
    }
  }

  /**
   * Takes a file.
   *
   * @param fileName for the problems' text
   * @param by who applies it, for the list of revisions and the event
   * @param dryRun whether it is only looked at; then nothing changes, no banner either
   * @throws StoreFailed where a good file could not be stored: nothing changed
   */
  public Outcome apply(String yaml, String fileName, String by, boolean dryRun) throws StoreFailed {
    Reading reading = FleetFile.read(yaml, fileName);
    changing.lock();
    try {
      if (reading instanceof Reading.Bad bad) {
        if (!dryRun) {
          reject(bad, by);
        }
        return new Outcome.Rejected(bad);
      }
      FleetSpec next = ((Reading.Good) reading).spec();
      List<Change> changes = SpecDifference.between(inForce.spec(), next);
      if (dryRun) {
        return new Outcome.WouldChange(changes);
      }
      if (changes.isEmpty() && inForce.number() > 0) {
        rejection = Optional.empty();
        return new Outcome.Unchanged(inForce.number());
      }
      Instant at = Instant.ofEpochMilli(clock.millis());
      long number = table.add(by, at, yaml);
      rejection = Optional.empty();
      journal.event(
          Severity.INFO,
          EVENT_APPLIED,
          "revision " + number,
          "Revision %d was applied by %s: %s."
              .formatted(number, by, Counted.of(changes.size(), "change")));
      activate(new InForce(number, at, by, next));
      return new Outcome.Applied(number, changes);
    } finally {
      changing.unlock();
    }
  }

  private void activate(InForce next) {
    inForce = next;
    activation.activate(next);
  }

  private void reject(Reading.Bad bad, String by) {
    rejections.incrementAndGet();
    rejection = Optional.of(new Rejection(clock.instant(), by, bad.problems()));
    journal.event(
        Severity.ERROR,
        EVENT_REJECTED,
        bad.fileName(),
        "%s by %s was rejected, revision %d stays in force: %s%s"
            .formatted(
                bad.fileName(),
                by,
                inForce.number(),
                bad.problems().getFirst(),
                bad.problems().size() == 1
                    ? "."
                    : " (the first of " + bad.problems().size() + " problems)."));
  }

  public InForce inForce() {
    return inForce;
  }

  /** The last file that was refused, empty after a good one: for the banner. */
  public Optional<Rejection> rejection() {
    return rejection;
  }

  /** Files that were refused since the start: for the metric. */
  public long rejections() {
    return rejections.get();
  }
}
