package dev.flotilla.agent.models;

import dev.flotilla.agent.models.FileRequests.Order;
import dev.flotilla.agent.models.PartFile.Note;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Fetches one file over HTTP into a {@link PartFile}, whatever the connection and the server do.
 *
 * <p>A fetch is a row of attempts. Each asks for what is missing, with {@code Range} and {@code
 * If-Range}, so that a file that changed meanwhile is begun anew instead of being sewn together. A
 * try that brought bytes resets the count of failures in a row; both that count and the tries in
 * all are bounded. What another try can't cure (not found, forbidden, a wrong size, a wrong digest,
 * a full disk) fails at once.
 *
 * <p>The JDK's client has no limit on the time between two bytes of a body, so a watcher beside the
 * reading closes a stalled one.
 *
 * <p>Any number of threads may fetch different files.
 */
final class Downloader {

  /** A complete, verified part. */
  record Fetched(long size, String sha256) {}

  /** Free bytes of the disk that a file lies on, or will lie on; its folder exists. */
  interface FreeSpace {
    long bytes(Path file) throws IOException;

    /** What the file system says. */
    static FreeSpace ofDisk() {
      return file -> {
        Path folder = file.toAbsolutePath().getParent();
        return Files.getFileStore(folder == null ? file : folder).getUsableSpace();
      };
    }
  }

  private sealed interface Outcome {
    record Done(Fetched fetched) implements Outcome {}

    /**
     * Worth another try.
     *
     * @param unreached whether no server answered at all
     */
    record Again(String why, Duration notBefore, boolean unreached) implements Outcome {
      Again(String why, Duration notBefore) {
        this(why, notBefore, false);
      }
    }
  }

  private static final int BUFFER_BYTES = 128 << 10;
  private static final long DISK_LOOK_BYTES = 64L << 20;
  private static final Pattern CONTENT_RANGE =
      Pattern.compile("bytes (?:(\\d{1,18})-(\\d{1,18})|\\*)/(\\d{1,18}|\\*)");
  private static final System.Logger LOG = System.getLogger(Downloader.class.getName());

  private final FileRequests requests;
  private final DownloadLimits limits;
  private final FreeSpace freeSpace;

  Downloader(FileRequests requests, DownloadLimits limits, FreeSpace freeSpace) {
    this.limits = limits;
    this.freeSpace = freeSpace;
    this.requests = requests;
  }

  /**
   * Brings {@code order.part()} to its whole, verified content.
   *
   * @throws DownloadFailed with one sentence; what arrived is kept for the next call, except where
   *     it is known to be wrong
   */
  Fetched fetch(Order order, Steps steps) throws DownloadFailed, InterruptedException {
    try (PartFile part = PartFile.open(order.part(), order.source())) {
      return fetch(order, part, steps);
    } catch (IOException e) {
      throw new DownloadFailed(
          "The file " + order.part() + " can't be written: " + FileRequests.reason(e) + ".");
    }
  }

  private Fetched fetch(Order order, PartFile part, Steps steps)
      throws DownloadFailed, IOException, InterruptedException {
    int inARow = 0;
    for (int tries = 1; ; tries++) {
      long before = part.length();
      Outcome outcome = attempt(order, part, steps);
      if (outcome instanceof Outcome.Done done) {
        return done.fetched();
      }
      Outcome.Again again = (Outcome.Again) outcome;
      inARow = part.length() > before ? 1 : inARow + 1;
      if (inARow >= limits.attemptsWithoutProgress() || tries >= limits.attempts()) {
        throw new DownloadFailed(
            order.source()
                + " could not be fetched from "
                + WebAddress.shown(order.address())
                + " after "
                + tries
                + " tries: "
                + again.why()
                + (part.length() > 0
                    ? ". " + part.length() + " bytes are kept; the next try goes on from there."
                    : ".")
                + (again.unreached() ? FileRequests.networkAdvice(order) : ""));
      }
      LOG.log(System.Logger.Level.INFO, "{0}: {1}; trying again", order.source(), again.why());
      steps.at(order.step() + ": " + again.why() + ", trying again", part.length(), order.size());
      Thread.sleep(limits.pause(inARow, again.notBefore()));
    }
  }

  private Outcome attempt(Order order, PartFile part, Steps steps)
      throws DownloadFailed, IOException, InterruptedException {
    Note note = part.note();
    boolean mayResume =
        note != null
            && part.length() > 0
            && (!note.validator().isEmpty() || !order.sha256().isEmpty());
    if (!mayResume && part.length() > 0) {
      part.restart();
    }
    HttpResponse<InputStream> reply;
    try {
      reply = requests.get(order, mayResume ? part : null);
    } catch (IOException e) {
      FileRequests.rethrowInterrupt(e);
      return new Outcome.Again(FileRequests.reason(e), Duration.ZERO, true);
    }
    try (InputStream body = reply.body()) {
      return switch (reply.statusCode()) {
        case 200 -> {
          part.restart();
          yield receive(order, part, reply, body, FileRequests.length(reply), steps);
        }
        case 206 -> resume(order, part, reply, body, steps);
        case 416 -> unsatisfiable(order, part, reply);
        case 408, 425, 429, 500, 502, 503, 504 ->
            new Outcome.Again(
                "the server answered " + reply.statusCode(), FileRequests.retryAfter(reply));
        default -> throw new DownloadFailed(FileRequests.refusal(order, reply.statusCode()));
      };
    }
  }

  private Outcome resume(
      Order order, PartFile part, HttpResponse<InputStream> reply, InputStream body, Steps steps)
      throws DownloadFailed, IOException, InterruptedException {
    Matcher range = CONTENT_RANGE.matcher(FileRequests.header(reply, "content-range"));
    Note note = part.note();
    if (!range.matches()
        || range.group(1) == null
        || note == null
        || Long.parseLong(range.group(1)) != part.length()) {
      part.restart();
      return new Outcome.Again("the server sent another part than asked for", Duration.ZERO);
    }
    long total = range.group(3).equals("*") ? -1 : Long.parseLong(range.group(3));
    if (note.size() >= 0 && total >= 0 && note.size() != total) {
      part.restart();
      return new Outcome.Again("the file changed at its source", Duration.ZERO);
    }
    return receive(order, part, reply, body, total >= 0 ? total : note.size(), steps);
  }

  /** 416: either everything is here already, or the file became shorter. */
  private Outcome unsatisfiable(Order order, PartFile part, HttpResponse<InputStream> reply)
      throws DownloadFailed, IOException {
    Matcher range = CONTENT_RANGE.matcher(FileRequests.header(reply, "content-range"));
    if (part.length() > 0 && range.matches() && range.group(3).equals("" + part.length())) {
      return verify(order, part);
    }
    part.restart();
    return new Outcome.Again("the server has no such part of the file", Duration.ZERO);
  }

  private Outcome receive(
      Order order,
      PartFile part,
      HttpResponse<InputStream> reply,
      InputStream body,
      long total,
      Steps steps)
      throws DownloadFailed, IOException, InterruptedException {
    String encoding = FileRequests.header(reply, "content-encoding");
    if (!encoding.isEmpty() && !encoding.equalsIgnoreCase("identity")) {
      throw new DownloadFailed(
          order.source() + " arrives as " + encoding + ", though it was asked for as it is.");
    }
    if (total >= 0 && order.size() >= 0 && total != order.size()) {
      part.delete();
      throw new DownloadFailed(
          order.source()
              + " has "
              + order.size()
              + " bytes by its source, but the server offers "
              + total
              + "; nothing was kept.");
    }
    if (part.note() == null) {
      part.begin(new Note(order.source(), FileRequests.validator(reply), total));
    }
    long whole = total >= 0 ? total : order.size();
    needDisk(order, part, whole);
    String broken = copy(order, part, body, whole, steps);
    if (!broken.isEmpty()) {
      return new Outcome.Again(broken, Duration.ZERO);
    }
    if (whole >= 0 && part.length() < whole) {
      return new Outcome.Again(
          "the connection ended after " + part.length() + " of " + whole + " bytes", Duration.ZERO);
    }
    return verify(order, part);
  }

  /** Copies the body; why the connection broke, or empty at its clean end. */
  private String copy(Order order, PartFile part, InputStream body, long whole, Steps steps)
      throws DownloadFailed, IOException, InterruptedException {
    byte[] buffer = new byte[BUFFER_BYTES];
    long looked = part.length();
    try (StallWatch watch = StallWatch.over(body, limits.stall())) {
      while (true) {
        steps.at(order.step(), part.length(), whole);
        int count;
        try {
          count = body.read(buffer);
        } catch (IOException e) {
          FileRequests.rethrowInterrupt(e);
          return watch.stalled()
              ? stalledFor()
              : "the connection broke after " + part.length() + " bytes";
        }
        if (count < 0) {
          return watch.stalled() ? stalledFor() : "";
        }
        watch.alive();
        if (whole >= 0 && part.length() + count > whole) {
          part.restart();
          return "the server sent more than the " + whole + " bytes that it announced";
        }
        write(part, buffer, count, whole);
        if (part.length() - looked >= DISK_LOOK_BYTES) {
          looked = part.length();
          needDisk(order, part, whole);
        }
      }
    }
  }

  private void write(PartFile part, byte[] buffer, int count, long whole)
      throws DownloadFailed, InterruptedException {
    try {
      part.append(buffer, count);
    } catch (IOException e) {
      FileRequests.rethrowInterrupt(e);
      throw new DownloadFailed(
          "Writing the file failed after "
              + part.length()
              + (whole >= 0 ? " of " + whole : "")
              + " bytes: "
              + FileRequests.reason(e)
              + ". What arrived is kept; make room and try again.");
    }
  }

  private Outcome verify(Order order, PartFile part) throws DownloadFailed, IOException {
    long size = part.length();
    if (size == 0) {
      part.delete();
      throw new DownloadFailed(order.source() + " is empty at its source: 0 bytes arrived.");
    }
    if (order.size() >= 0 && size != order.size()) {
      part.delete();
      throw new DownloadFailed(
          order.source()
              + " has "
              + order.size()
              + " bytes by its source, but "
              + size
              + " arrived; the file was deleted.");
    }
    String digest = part.finish();
    if (!order.sha256().isEmpty() && !order.sha256().equals(digest)) {
      part.delete();
      throw new DownloadFailed(
          order.source()
              + " has SHA-256 "
              + order.sha256()
              + " by its source, but what arrived has "
              + digest
              + "; the file was deleted.");
    }
    return new Outcome.Done(new Fetched(size, digest));
  }

  private void needDisk(Order order, PartFile part, long whole) throws DownloadFailed, IOException {
    long missing = whole >= 0 ? whole - part.length() : 0;
    long unpacked = order.unpacked() && whole >= 0 ? whole : 0;
    long needed = missing + unpacked + limits.diskReserveBytes();
    long free = freeSpace.bytes(order.part());
    if (free < needed) {
      throw new DownloadFailed(diskShort(order.source(), order.part(), needed, free, limits));
    }
  }

  static String diskShort(String source, Path near, long needed, long free, DownloadLimits limits) {
    return String.format(
        Locale.ROOT,
        "%s needs %.2f GiB of disk at %s (with %.2f GiB that stay free), but %.2f GiB are free; make"
            + " room, or use another --home.",
        source,
        gib(needed),
        near.toAbsolutePath().getParent(),
        gib(limits.diskReserveBytes()),
        gib(free));
  }

  private static double gib(long bytes) {
    return bytes / (double) (1L << 30);
  }

  private String stalledFor() {
    return "nothing arrived for " + limits.stall().toSeconds() + " s";
  }
}
