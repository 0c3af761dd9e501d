package dev.flotilla.hub.routing;

import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The only place where work in flight is counted.
 *
 * <p>Counts are kept per {@link Target#ledgerKey()}: name and launch. A launch that died takes its
 * counts with it: late closings of its reservations never touch the counts of its successor.
 *
 * <p>Invariants, checked by {@link #checkInvariants()}:
 *
 * <ul>
 *   <li>a target's count is the number of its reservations that are not closed; never negative
 *   <li>the count of all targets is the sum of the counts of each
 *   <li>a reservation is closed once; another close does nothing
 *   <li>a reservation is only ever made below the target's slots
 * </ul>
 *
 * <p>Concurrency: every method may be called by any thread; one short lock of its own, taken inside
 * the dispatcher's and never the other way round. Whoever closes a reservation runs the listener
 * after the lock is released.
 *
 * <p>Life: an account exists while something is in flight, or while its target is in the fleet;
 * {@link #retain} drops the rest, so the table is as large as the fleet plus what still runs.
 */
public final class Ledger {
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, Account> accounts = new HashMap<>();
  private final Map<String, Totals> totals = new HashMap<>();
  private volatile Consumer<Reservation> listener = reservation -> {};
  private int inFlight;
  private long begun;

  private static final class Account {
    int inFlight;
  }

  private static final class Totals {
    long served;
    long failed;
  }

  /** Runs {@code closed} after each reservation's close, on the thread that closed it. */
  void onClose(Consumer<Reservation> closed) {
    listener = closed;
  }

  /** A place on the target, or null where all of its slots are taken. */
  @Nullable Reservation reserve(Target target, long nowNanos) {
    lock.lock();
    try {
      Account account = accounts.computeIfAbsent(target.ledgerKey(), key -> new Account());
      if (account.inFlight >= target.slots()) {
        return null;
      }
      account.inFlight++;
      inFlight++;
      begun++;
      return new Reservation(target, account.inFlight, nowNanos, this::closed);
    } finally {
      lock.unlock();
    }
  }

  private void closed(Reservation reservation) {
    lock.lock();
    try {
      Account account = accounts.get(reservation.target().ledgerKey());
      if (account == null || account.inFlight == 0) {
        throw new IllegalStateException(
            "reservation closed without a count: " + reservation.target());
      }
      account.inFlight--;
      inFlight--;
    } finally {
      lock.unlock();
    }
    listener.accept(reservation);
  }

  /** Requests in flight on one launch of one target. */
  public int inFlight(String ledgerKey) {
    lock.lock();
    try {
      Account account = accounts.get(ledgerKey);
      return account == null ? 0 : account.inFlight;
    } finally {
      lock.unlock();
    }
  }

  /** Requests in flight on all targets. */
  public int inFlight() {
    lock.lock();
    try {
      return inFlight;
    } finally {
      lock.unlock();
    }
  }

  /** Places that were ever taken, on any target. */
  public long begun() {
    lock.lock();
    try {
      return begun;
    } finally {
      lock.unlock();
    }
  }

  /** Counts one attempt's end for people to read. */
  void count(Target target, boolean served) {
    lock.lock();
    try {
      Totals of = totals.computeIfAbsent(target.name(), name -> new Totals());
      if (served) {
        of.served++;
      } else {
        of.failed++;
      }
    } finally {
      lock.unlock();
    }
  }

  /** Attempts on the target of that name that ended well, since the hub started. */
  public long served(String target) {
    lock.lock();
    try {
      Totals of = totals.get(target);
      return of == null ? 0 : of.served;
    } finally {
      lock.unlock();
    }
  }

  /** Attempts on the target of that name that failed, since the hub started. */
  public long failed(String target) {
    lock.lock();
    try {
      Totals of = totals.get(target);
      return of == null ? 0 : of.failed;
    } finally {
      lock.unlock();
    }
  }

  /** Forgets what is neither in flight nor in the fleet any more. */
  void retain(Set<String> ledgerKeys, Set<String> names) {
    lock.lock();
    try {
      for (Iterator<Map.Entry<String, Account>> each = accounts.entrySet().iterator();
          each.hasNext(); ) {
        Map.Entry<String, Account> entry = each.next();
        if (entry.getValue().inFlight == 0 && !ledgerKeys.contains(entry.getKey())) {
          each.remove();
        }
      }
      totals.keySet().retainAll(names);
    } finally {
      lock.unlock();
    }
  }

  /** Fails where an invariant of the class comment does not hold; for tests. */
  public void checkInvariants() {
    lock.lock();
    try {
      int sum = 0;
      for (Map.Entry<String, Account> entry : accounts.entrySet()) {
        if (entry.getValue().inFlight < 0) {
          throw new AssertionError(entry.getKey() + " has " + entry.getValue().inFlight);
        }
        sum += entry.getValue().inFlight;
      }
      if (sum != inFlight) {
        throw new AssertionError("in flight " + inFlight + ", sum of the accounts " + sum);
      }
    } finally {
      lock.unlock();
    }
  }
}
