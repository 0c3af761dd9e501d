package dev.flotilla.hub.ui;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Keeps every open page true: renders the page's parts while somebody looks, and sends each page
 * those that changed since it was last sent something.
 *
 * <p><b>How.</b> There is no queue of messages. The feed holds the newest HTML of each part with
 * the number of the rendering that changed it; a subscriber remembers the last number that it was
 * sent, and takes whatever is newer when it is ready for more. A slow page skips what it was too
 * slow for, and memory is one copy of the page however many look at it.
 *
 * <p><b>Concurrency.</b> One virtual thread renders: after a change, but at most once per {@link
 * Limits#pause}; without a change once per {@link Limits#refresh}, because loads have no listener;
 * not at all while nobody looks. Each subscriber runs on the thread of its own request and blocks
 * in its own writes. All state below is guarded by {@code lock}; nothing is rendered or written
 * under it.
 *
 * <p><b>Life cycle of a subscriber.</b> Taken in by {@link #serve} unless {@link
 * Limits#subscribers} are there; sent a beat when nothing changed for {@link Limits#heartbeat}, so
 * that a browser that is gone is found by a failed write; interrupted, which closes its socket,
 * when one write takes longer than {@link Limits#write}; let go by {@link #close}.
 *
 * <p><b>Invariants.</b> {@code newest} is the largest number in {@code parts}; {@code parts} is
 * empty while there are no subscribers, so that nobody is ever sent what was true long ago.
 */
final class LiveFeed implements AutoCloseable {
  private static final System.Logger LOGGER = System.getLogger(LiveFeed.class.getName());

  /**
   * A named event and not a comment: scripts never see a comment, and this one tells a page on a
   * machine that slept that its connection still lives.
   */
  private static final String BEAT = "event: beat\ndata:\n\n";

  /**
   * Every wait and size of the feed.
   *
   * @param subscribers pages that may be open at once
   * @param pause shortest time between two renderings
   * @param refresh longest time between two renderings
   * @param heartbeat longest silence towards a page
   * @param write how long one write to a page may take
   */
  record Limits(
      int subscribers, Duration pause, Duration refresh, Duration heartbeat, Duration write) {
    static final Limits DEFAULT =
        new Limits(
            32,
            Duration.ofMillis(250),
            Duration.ofSeconds(1),
            Duration.ofSeconds(10),
            Duration.ofSeconds(10));
  }

  /** One part of the page: the id of the element that holds it, and what is inside. */
  record Part(String id, String html) {}

  private record Version(long number, String html) {}

  private static final class Subscriber {
    final Thread thread = Thread.currentThread();

    /** Nano time at which the write under way began; 0 between writes. */
    volatile long writingSince;
  }

  private final Supplier<List<Part>> rendering;
  private final Limits limits;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition wanted = lock.newCondition();
  private final Condition rendered = lock.newCondition();
  private final Map<String, Version> parts = new LinkedHashMap<>();
  private final Set<Subscriber> subscribers = new HashSet<>();
  private final Thread renderer;
  private long newest;
  private boolean dirty;
  private boolean closed;

  LiveFeed(Supplier<List<Part>> rendering, Limits limits) {
    this.rendering = rendering;
    this.limits = limits;
    this.renderer = Thread.ofVirtual().name("dashboard-live").start(this::renderUntilClosed);
  }

  /** Something that the page shows has changed. Returns at once. */
  void changed() {
    lock.lock();
    try {
      dirty = true;
      wanted.signal();
    } finally {
      lock.unlock();
    }
  }

  /** Whether one more page may be served. */
  boolean hasRoom() {
    lock.lock();
    try {
      return !closed && subscribers.size() < limits.subscribers();
    } finally {
      lock.unlock();
    }
  }

  /** Pages that are open now. */
  int subscribers() {
    lock.lock();
    try {
      return subscribers.size();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Writes server-sent events until the feed is closed; at once where there is no room.
   *
   * @throws IOException when the page is gone or too slow
   */
  void serve(OutputStream out) throws IOException {
    Subscriber subscriber = new Subscriber();
    if (!enter(subscriber)) {
      return;
    }
    try {
      long seen = 0;
      while (true) {
        StringBuilder message = new StringBuilder();
        lock.lock();
        try {
          long nanos = limits.heartbeat().toNanos();
          while (!closed && newest <= seen && nanos > 0) {
            nanos = rendered.awaitNanos(nanos);
          }
          if (closed) {
            return;
          }
          for (Map.Entry<String, Version> part : parts.entrySet()) {
            if (part.getValue().number() > seen) {
              appendPart(message, part.getKey(), part.getValue().html());
            }
          }
          seen = Math.max(seen, newest);
        } finally {
          lock.unlock();
        }
        write(subscriber, out, message.isEmpty() ? BEAT : event(message));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("the page took longer than " + limits.write() + " to read", e);
    } finally {
      leave(subscriber);
    }
  }

  private boolean enter(Subscriber subscriber) {
    lock.lock();
    try {
      if (!hasRoom()) {
        return false;
      }
      subscribers.add(subscriber);
      dirty = true;
      wanted.signal();
      return true;
    } finally {
      lock.unlock();
    }
  }

  private void leave(Subscriber subscriber) {
    lock.lock();
    try {
      subscribers.remove(subscriber);
      if (subscribers.isEmpty()) {
        parts.clear();
      }
    } finally {
      lock.unlock();
    }
  }

  private static void write(Subscriber subscriber, OutputStream out, String text)
      throws IOException {
    subscriber.writingSince = System.nanoTime() | 1;
    out.write(text.getBytes(StandardCharsets.UTF_8));
    out.flush();
    subscriber.writingSince = 0;
  }

  /** A part as htmx takes it: patched into the element, so that focus and open rows survive. */
  private static void appendPart(StringBuilder message, String id, String html) {
    message
        .append("<hx-partial hx-target=\"#")
        .append(id)
        .append("\" hx-swap=\"innerMorph\">")
        .append(html)
        .append("</hx-partial>\n");
  }

  /** One server-sent event; a carriage return in the text would end its line, and forge fields. */
  private static String event(StringBuilder html) {
    StringBuilder event = new StringBuilder(html.length() + 256);
    html.toString()
        .replace('\r', ' ')
        .lines()
        .filter(line -> !line.isBlank())
        .forEach(line -> event.append("data: ").append(line).append('\n'));
    return event.append('\n').toString();
  }

  private void renderUntilClosed() {
    try {
      while (awaitNeed()) {
        try {
          publish(rendering.get());
        } catch (RuntimeException e) {
          LOGGER.log(System.Logger.Level.WARNING, "the dashboard could not be rendered", e);
        }
        Thread.sleep(limits.pause());
      }
    } catch (InterruptedException e) {
      // Only close() interrupts this thread, and nothing is left to do.
    }
  }

  /** Waits until somebody looks and something may have changed; false once closed. */
  private boolean awaitNeed() throws InterruptedException {
    lock.lock();
    try {
      long nanos = limits.refresh().toNanos();
      while (!closed && (subscribers.isEmpty() || (!dirty && nanos > 0))) {
        if (subscribers.isEmpty()) {
          wanted.await();
        } else {
          nanos = wanted.awaitNanos(nanos);
        }
      }
      dirty = false;
      long now = System.nanoTime();
      for (Subscriber subscriber : subscribers) {
        long since = subscriber.writingSince;
        if (since != 0 && now - since > limits.write().toNanos()) {
          subscriber.thread.interrupt();
        }
      }
      return !closed;
    } finally {
      lock.unlock();
    }
  }

  private void publish(List<Part> fresh) {
    lock.lock();
    try {
      if (subscribers.isEmpty()) {
        return;
      }
      long number = newest + 1;
      for (Part part : fresh) {
        Version known = parts.get(part.id());
        if (known == null || !known.html().equals(part.html())) {
          parts.put(part.id(), new Version(number, part.html()));
          newest = number;
        }
      }
      rendered.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      rendered.signalAll();
      wanted.signalAll();
    } finally {
      lock.unlock();
    }
    renderer.interrupt();
  }
}
