package dev.flotilla.hub;

import dev.flotilla.hub.store.Event;
import dev.flotilla.hub.store.EventTable;
import dev.flotilla.hub.store.Journal;
import dev.flotilla.hub.store.Store;
import dev.flotilla.hub.store.StoreFailed;
import dev.flotilla.hub.store.Usage;
import dev.flotilla.wire.lanes.ControlMessage.Severity;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The journal, with its newest events kept in memory: the dashboard shows them on every page at
 * every change, and must not wait for a disk. Everything goes to the store as well.
 *
 * <p>Bound: {@value #KEPT} events. Concurrency: one short lock; listeners run outside it.
 */
final class RecentEvents implements Journal {
  private static final int KEPT = 200;

  private final Store store;
  private final InstantSource clock;
  private final ReentrantLock lock = new ReentrantLock();
  private final ArrayDeque<Event> newestFirst = new ArrayDeque<>();
  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

  /** Begins with what the store remembers. */
  RecentEvents(Store store, InstantSource clock) throws StoreFailed {
    this.store = store;
    this.clock = clock;
    newestFirst.addAll(store.events().newest(KEPT, EventTable.Filter.ALL));
  }

  @Override
  public void usage(Usage usage) {
    store.usage(usage);
  }

  @Override
  public void event(Severity severity, String kind, String subject, String message) {
    store.event(severity, kind, subject, message);
    lock.lock();
    try {
      newestFirst.addFirst(new Event(0, clock.instant(), severity, kind, subject, message));
      if (newestFirst.size() > KEPT) {
        newestFirst.removeLast();
      }
    } finally {
      lock.unlock();
    }
    listeners.forEach(Runnable::run);
  }

  List<Event> newest(int count) {
    lock.lock();
    try {
      List<Event> events = new ArrayList<>(Math.min(count, newestFirst.size()));
      for (Event event : newestFirst) {
        if (events.size() == count) {
          break;
        }
        events.add(event);
      }
      return events;
    } finally {
      lock.unlock();
    }
  }

  void onChange(Runnable listener) {
    listeners.add(listener);
  }
}
