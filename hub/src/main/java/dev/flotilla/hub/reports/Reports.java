package dev.flotilla.hub.reports;

import dev.flotilla.hub.store.Journal;
import dev.flotilla.hub.store.Store;
import dev.flotilla.hub.store.StoreFailed;
import dev.flotilla.hub.store.StoredReport;
import dev.flotilla.wire.lanes.ControlMessage.Severity;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The reports of measurements that this hub keeps.
 *
 * <p><b>What is where.</b> Everything is in the store; the heads, which lists show, are in memory
 * too, because the dashboard must not wait for a disk. Summaries and pages are read when asked for.
 *
 * <p><b>Tickets.</b> A page is opened by following a link, and a browser that follows one sends no
 * key. So where keys are demanded the link itself holds a ticket: a MAC of the report's number
 * under a secret that is drawn at each start and known to this process alone. Whoever is shown the
 * list may follow its links, until the hub starts again; a link opens its one report and nothing
 * else.
 *
 * <p><b>Invariants.</b> {@code heads} is what the table held after the newest change of this
 * process, newest first; nobody else writes the table while a hub runs.
 *
 * <p><b>Concurrency.</b> Changes come one after the other, under a lock that is held while the
 * store commits; who only reads never waits for it. Listeners run outside it.
 */
public final class Reports {
  private static final String MAC = "HmacSHA256";
  private static final int TICKET_BYTES = 16;

  private final Store store;
  private final Journal journal;
  private final InstantSource clock;
  private final boolean keysDemanded;
  private final SecretKeySpec secret;
  private final ReentrantLock changing = new ReentrantLock();
  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
  private volatile List<StoredReport> heads;

  /**
   * @param keysDemanded whether a link needs a ticket
   * @param random draws the secret of this start's tickets
   */
  public Reports(
      Store store,
      Journal journal,
      InstantSource clock,
      boolean keysDemanded,
      RandomGenerator random)
      throws StoreFailed {
    this.store = store;
    this.journal = journal;
    this.clock = clock;
    this.keysDemanded = keysDemanded;
    byte[] drawn = new byte[32];
    random.nextBytes(drawn);
    secret = new SecretKeySpec(drawn, MAC);
    heads = store.reports().heads();
  }

  /** The heads of all reports, newest first. */
  public List<StoredReport> heads() {
    return heads;
  }

  public Optional<StoredReport> find(long id) {
    return heads.stream().filter(head -> head.id() == id).findFirst();
  }

  /** What was stored. */
  public record Added(StoredReport report, int dropped) {}

  /**
   * Stores a report that is in order, and returns after the commit.
   *
   * @param by who sent it
   */
  public Added add(ReportDraft draft, String by) throws StoreFailed {
    StoredReport head =
        new StoredReport(
            0, clock.instant(), by, draft.kind(), draft.title(), draft.model(), draft.figures(), 0);
    Added added;
    changing.lock();
    try {
      int before = heads.size();
      heads = store.reports().add(head, draft.summary(), draft.html());
      added = new Added(heads.getFirst(), before + 1 - heads.size());
    } finally {
      changing.unlock();
    }
    happened(
        "report-stored",
        added.report().id(),
        "Report %d was stored by %s: %s."
            .formatted(added.report().id(), by, added.report().title()));
    return added;
  }

  /** Deletes a report; false where there is none of that number. */
  public boolean remove(long id, String by) throws StoreFailed {
    changing.lock();
    try {
      if (find(id).isEmpty()) {
        return false;
      }
      heads = store.reports().remove(id);
    } finally {
      changing.unlock();
    }
    happened("report-deleted", id, "Report %d was deleted by %s.".formatted(id, by));
    return true;
  }

  private void happened(String kind, long id, String message) {
    journal.event(Severity.INFO, kind, "report-" + id, message);
    listeners.forEach(Runnable::run);
  }

  /** The summary of a report, a JSON object. */
  public Optional<String> summary(long id) throws StoreFailed {
    return store.reports().summary(id);
  }

  /** The page of a report, in UTF-8. It is foreign: to be served apart from everything else. */
  public Optional<byte[]> html(long id) throws StoreFailed {
    return store.reports().html(id);
  }

  /** Where the page of a report is: a path of this hub, with a ticket where one is needed. */
  public String path(long id) {
    return "/reports/" + id + (keysDemanded ? "?ticket=" + ticket(id) : "");
  }

  /** Whether the ticket was made for this report by this start of the hub. */
  public boolean admits(long id, String ticket) {
    return MessageDigest.isEqual(
        ticket(id).getBytes(StandardCharsets.US_ASCII), ticket.getBytes(StandardCharsets.UTF_8));
  }

  private String ticket(long id) {
    try {
      Mac mac = Mac.getInstance(MAC);
      mac.init(secret);
      byte[] code = mac.doFinal(Long.toString(id).getBytes(StandardCharsets.US_ASCII));
      return HexFormat.of().formatHex(code, 0, TICKET_BYTES);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK has " + MAC, e);
    }
  }

  /** Runs {@code listener}, which returns at once, after each change. */
  public void onChange(Runnable listener) {
    listeners.add(listener);
  }
}
