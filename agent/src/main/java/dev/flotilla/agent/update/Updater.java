package dev.flotilla.agent.update;

import dev.flotilla.agent.engine.ProgressListener;
import dev.flotilla.agent.lanes.AgentEnd;
import dev.flotilla.agent.lanes.UpdateDesk;
import dev.flotilla.agent.update.Versions.Failure;
import dev.flotilla.wire.lanes.ControlMessage.UpdateOffered;
import dev.flotilla.wire.lanes.ControlMessage.UpdateStep;
import dev.flotilla.wire.lanes.ControlMessage.UpdateStep.Stage;
import dev.flotilla.wire.release.Release;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Has this agent replaced: takes offers, or says why not, fetches, checks and unpacks, and ends the
 * agent when the hub says that nothing runs any more.
 *
 * <p><b>Life of an offer.</b> Refused at once, or prepared on a thread of its own while the agent
 * serves on. Prepared it is READY, until the hub says {@link #now}, the session ends (the next one
 * brings the offer again, and finds it unpacked), or another offer takes its place. Then the
 * launcher is left a note, and {@link #replaced} completes: whoever owns the agent closes it and
 * ends the process with the code that the launcher waits for.
 *
 * <p><b>After a start</b> the first welcome does two things: it tells the hub of versions that were
 * given up here, and where this version is on trial it tells the launcher that it stays.
 *
 * <p><b>Concurrency.</b> Called by the control lane's thread; the lock guards which offer is the
 * one of now. A preparation that was overtaken says nothing any more.
 */
public final class Updater implements UpdateDesk, AutoCloseable {
  private static final System.Logger LOG = System.getLogger(Updater.class.getName());

  /** How long the end of the agent waits for a preparation to notice it. */
  private static final Duration END_LIMIT = Duration.ofSeconds(2);

  /** Free bytes of the disk that a folder is on. */
  public interface Disk {
    long freeBytes(Path folder) throws IOException;
  }

  private final String running;
  private final UpdateRules rules;
  private final Versions versions;
  private final ReleaseFetch fetch;
  private final UpdateLimits limits;
  private final Disk disk;
  private final Consumer<UpdateStep> say;
  private final CompletableFuture<AgentEnd> replaced = new CompletableFuture<>();

  private final Object lock = new Object();
  private @Nullable UpdateOffered current;
  private @Nullable Thread work;
  private boolean ready;
  private boolean told;

  Updater(
      String running,
      UpdateRules rules,
      Versions versions,
      ReleaseFetch fetch,
      UpdateLimits limits,
      Disk disk,
      Consumer<UpdateStep> say) {
    this.running = running;
    this.rules = rules;
    this.versions = versions;
    this.fetch = fetch;
    this.limits = limits;
    this.disk = disk;
    this.say = say;
  }

  /**
   * The updater of the agent on {@code home}.
   *
   * @param running the version that runs
   * @param source the hub's releases
   * @param listener hears how far a release is
   * @param say hears how far an offer is, for the hub
   */
  public static Updater of(
      Path home,
      String running,
      UpdateRules rules,
      ReleaseFetch.Source source,
      UpdateLimits limits,
      ProgressListener listener,
      Consumer<UpdateStep> say) {
    return new Updater(
        running,
        rules,
        new Versions(home),
        new ReleaseFetch(source, limits, listener),
        limits,
        folder -> Files.getFileStore(folder).getUsableSpace(),
        say);
  }

  /** Completes when the agent is to end, so that another version takes its place. */
  public CompletableFuture<AgentEnd> replaced() {
    return replaced;
  }

  @Override
  public void welcomed() {
    try {
      if (!told) {
        told = true;
        tellFailures();
      }
      if (rules.launched() && versions.onTrial()) {
        versions.accepted(running);
        LOG.log(System.Logger.Level.INFO, "The hub took version {0} in: it stays", running);
      }
    } catch (IOException e) {
      LOG.log(
          System.Logger.Level.WARNING,
          "The notes in {0} can''t be kept: {1}",
          versions.folder(),
          e.toString());
    }
  }

  private void tellFailures() throws IOException {
    for (Failure failure : versions.failures()) {
      if (!failure.told()) {
        say.accept(
            new UpdateStep(failure.version(), failure.attempt(), Stage.FAILED, failure.reason()));
        versions.keep(new Failure(failure.version(), failure.attempt(), failure.reason(), true));
      }
    }
  }

  @Override
  public void offered(UpdateOffered offer) {
    Optional<String> refusal;
    try {
      refusal =
          offer.release().problem().isPresent()
              ? rules.refusal(offer, running, Optional.empty())
              : rules.refusal(offer, running, versions.failure(offer.release().version()));
    } catch (IOException e) {
      refusal = Optional.of("its notes can't be read: " + e.getMessage());
    }
    synchronized (lock) {
      if (refusal.isPresent()) {
        say(offer, Stage.DECLINED, refusal.get());
        return;
      }
      say(offer, Stage.FETCHING, "");
      if (offer.equals(current) && work != null && work.isAlive()) {
        return;
      }
      stopWork();
      current = offer;
      Thread before = work;
      work = Thread.ofVirtual().name("update").start(() -> prepare(offer, before));
    }
  }

  /**
   * On the update's thread.
   *
   * @param before the one that writes to the same files until it has ended; null where none does
   */
  private void prepare(UpdateOffered offer, @Nullable Thread before) {
    Stage stage = Stage.READY;
    String reason = "";
    try {
      if (before != null) {
        before.join();
      }
      prepare(offer.release());
    } catch (UpdateFailed e) {
      stage = Stage.FAILED;
      reason = String.valueOf(e.getMessage());
    } catch (IOException e) {
      stage = Stage.FAILED;
      reason = "it can't be kept in " + versions.folder() + ": " + e.getMessage();
    } catch (InterruptedException e) {
      return;
    } catch (RuntimeException e) {
      LOG.log(System.Logger.Level.ERROR, "Preparing an update failed", e);
      stage = Stage.FAILED;
      reason = "preparing it failed: " + e;
    }
    synchronized (lock) {
      if (offer.equals(current)) {
        ready = stage == Stage.READY;
        say(offer, stage, reason);
      }
    }
  }

  private void prepare(Release release) throws UpdateFailed, IOException, InterruptedException {
    if (versions.has(release)) {
      return;
    }
    Path part = versions.part(release);
    needDisk(release.bytes() - (Files.exists(part) ? Files.size(part) : 0));
    fetch.fetch(release, part);
    Path folder = versions.fresh();
    needDisk(ReleaseArchive.saidBytes(part, limits));
    ReleaseArchive.unpack(part, folder, release, limits);
    versions.land(folder, release);
    Files.deleteIfExists(part);
  }

  private void needDisk(long bytes) throws UpdateFailed, IOException {
    Path folder = versions.folder();
    long free = disk.freeBytes(folder);
    if (free < bytes + limits.diskReserveBytes()) {
      throw new UpdateFailed(
          String.format(
              Locale.ROOT,
              "it needs %.0f MiB of disk at %s, with %.0f MiB that stay free, and %.0f MiB are free",
              bytes / (double) (1 << 20),
              folder,
              limits.diskReserveBytes() / (double) (1 << 20),
              free / (double) (1 << 20)));
    }
  }

  @Override
  public void now(String version) {
    synchronized (lock) {
      UpdateOffered offer = current;
      if (offer == null || !ready || !offer.release().version().equals(version)) {
        LOG.log(System.Logger.Level.WARNING, "The hub wants a version now that is not ready");
        return;
      }
      try {
        versions.next(version, offer.attempt());
      } catch (IOException e) {
        ready = false;
        say(offer, Stage.FAILED, "the launcher can't be left a note: " + e.getMessage());
        return;
      }
      replaced.complete(
          new AgentEnd(AgentEnd.REPLACED, "It is replaced by version " + version + "."));
    }
  }

  @Override
  public void parted() {
    synchronized (lock) {
      stopWork();
    }
  }

  private void stopWork() {
    if (work != null) {
      work.interrupt();
    }
    current = null;
    ready = false;
  }

  private void say(UpdateOffered offer, Stage stage, String reason) {
    LOG.log(
        System.Logger.Level.INFO, "Version {0}: {1} {2}", offer.release().version(), stage, reason);
    say.accept(new UpdateStep(offer.release().version(), offer.attempt(), stage, reason));
  }

  @Override
  public void close() {
    Thread last;
    synchronized (lock) {
      last = work;
      stopWork();
    }
    // After it nothing is written to the home any more, so that its lock may be released.
    if (last != null) {
      try {
        if (!last.join(END_LIMIT)) {
          LOG.log(System.Logger.Level.WARNING, "The update''s thread did not end in time");
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
