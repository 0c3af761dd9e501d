package dev.flotilla.agent.models;

import dev.flotilla.agent.models.PartFile.Note;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Fetches one file over HTTP into a {@link PartFile}, whatever the connection and the server do.
 *
 * <p>A fetch is a row of attempts. Each asks for what is missing, with {@code Range} and {@code
 * If-Range}, so that a file that changed meanwhile is begun anew instead of being sewn together. A
 * try that brought bytes resets the count of failures in a row; both that count and the tries in
 * all are bounded. What another try can't cure (not found, forbidden, a wrong size, a wrong digest,
 * a full disk) fails at once.
 *
 * <p>Redirects are followed by hand: each new address must be allowed by {@link WebAddress}, and
 * the bearer token goes to the first address's origin alone.
 *
 * <p>The JDK's client has no limit on the time between two bytes of a body, so a watcher beside the
 * reading closes a stalled one.
 *
 * <p>Stateless but for the client's connections; any number of threads may fetch different files.
 */
final class Downloader {

  /**
   * What to fetch.
   *
   * @param source which file it is, the same over restarts; names the file in messages
   * @param bearer token for the address's own origin, empty for none
   * @param size what the source says of its size, -1 where it does not
   * @param sha256 what the source says of its digest, lower-case hexadecimal; empty where it does
   *     not
   * @param step what a person reads while it runs
   * @param unpacked whether it is unpacked afterwards, which takes at least its size once more
   */
  record Order(
      String source,
      URI address,
      String bearer,
      Path part,
      long size,
      String sha256,
      String step,
      boolean unpacked) {}

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

    record Again(String why, Duration notBefore) implements Outcome {}
  }

  private static final int BUFFER_BYTES = 128 << 10;
  private static final long DISK_LOOK_BYTES = 64L << 20;
  private static final Pattern CONTENT_RANGE =
      Pattern.compile("bytes (?:(\\d{1,18})-(\\d{1,18})|\\*)/(\\d{1,18}|\\*)");
  private static final System.Logger LOG = System.getLogger(Downloader.class.getName());

  private final HttpClient client;
  private final DownloadLimits limits;
  private final FreeSpace freeSpace;

  Downloader(DownloadLimits limits, FreeSpace freeSpace) {
    this.limits = limits;
    this.freeSpace = freeSpace;
    this.client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(limits.connect())
            .followRedirects(HttpClient.Redirect.NEVER)
            .build();
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
          "The file " + order.part() + " can't be written: " + reason(e) + ".");
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
                    : "."));
      }
      LOG.log(System.Logger.Level.INFO, "{0}: {1}; trying again", order.source(), again.why());
      steps.at(order.step() + ": " + again.why() + ", trying again", part.length(), order.size());
      Thread.sleep(pause(inARow, again.notBefore()));
    }
  }

  private Duration pause(int inARow, Duration notBefore) {
    long doubled = limits.firstPause().toMillis() << Math.min(inARow - 1, 16);
    long millis =
        Math.min(Math.max(doubled, notBefore.toMillis()), limits.longestPause().toMillis());
    return Duration.ofMillis(millis / 2 + ThreadLocalRandom.current().nextLong(millis / 2 + 1));
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
      reply = send(order, mayResume ? part : null);
    } catch (IOException e) {
      rethrowInterrupt(e);
      return new Outcome.Again(reason(e), Duration.ZERO);
    }
    try (InputStream body = reply.body()) {
      return switch (reply.statusCode()) {
        case 200 -> {
          part.restart();
          yield receive(order, part, reply, body, length(reply), steps);
        }
        case 206 -> resume(order, part, reply, body, steps);
        case 416 -> unsatisfiable(order, part, reply);
        case 408, 425, 429, 500, 502, 503, 504 ->
            new Outcome.Again("the server answered " + reply.statusCode(), retryAfter(reply));
        default -> throw new DownloadFailed(refusal(order, reply.statusCode()));
      };
    }
  }

  private Outcome resume(
      Order order, PartFile part, HttpResponse<InputStream> reply, InputStream body, Steps steps)
      throws DownloadFailed, IOException, InterruptedException {
    Matcher range = CONTENT_RANGE.matcher(header(reply, "content-range"));
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
    Matcher range = CONTENT_RANGE.matcher(header(reply, "content-range"));
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
    String encoding = header(reply, "content-encoding");
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
      part.begin(new Note(order.source(), validator(reply), total));
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
          rethrowInterrupt(e);
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
      rethrowInterrupt(e);
      throw new DownloadFailed(
          "Writing the file failed after "
              + part.length()
              + (whole >= 0 ? " of " + whole : "")
              + " bytes: "
              + reason(e)
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

  /** Sends the request and follows redirects; {@code from} is what is here already. */
  private HttpResponse<InputStream> send(Order order, @Nullable PartFile from)
      throws DownloadFailed, IOException, InterruptedException {
    URI address = order.address();
    for (int hops = 0; hops <= limits.redirects(); hops++) {
      HttpRequest.Builder request = request(address, order).GET();
      Note note = from == null ? null : from.note();
      if (from != null && note != null) {
        request.header("Range", "bytes=" + from.length() + "-");
        if (!note.validator().isEmpty()) {
          request.header("If-Range", note.validator());
        }
      }
      HttpResponse<InputStream> reply =
          client.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
      if (!isRedirect(reply.statusCode())) {
        return reply;
      }
      reply.body().close();
      address = next(order, address, header(reply, "location"));
    }
    throw new DownloadFailed(
        order.source() + " is redirected more than " + limits.redirects() + " times.");
  }

  /**
   * The head of the reply to a HEAD request, following redirects within the same origin only: where
   * another origin would be next, this reply is the source's own last word.
   */
  HttpResponse<Void> head(Order order) throws DownloadFailed, InterruptedException {
    for (int tries = 1; ; tries++) {
      try {
        return headOnce(order);
      } catch (IOException e) {
        rethrowInterrupt(e);
        if (tries >= limits.attemptsWithoutProgress()) {
          throw new DownloadFailed(
              order.source()
                  + " could not be looked up at "
                  + WebAddress.shown(order.address())
                  + " after "
                  + tries
                  + " tries: "
                  + reason(e)
                  + ".");
        }
        Thread.sleep(pause(tries, Duration.ZERO));
      }
    }
  }

  private HttpResponse<Void> headOnce(Order order)
      throws DownloadFailed, IOException, InterruptedException {
    URI address = order.address();
    for (int hops = 0; hops <= limits.redirects(); hops++) {
      HttpResponse<Void> reply =
          client.send(
              request(address, order).HEAD().build(), HttpResponse.BodyHandlers.discarding());
      if (!isRedirect(reply.statusCode()) || reply.headers().map().containsKey("x-linked-etag")) {
        return reply;
      }
      URI next = next(order, address, header(reply, "location"));
      if (!WebAddress.sameOrigin(next, order.address())) {
        return reply;
      }
      address = next;
    }
    throw new DownloadFailed(
        order.source() + " is redirected more than " + limits.redirects() + " times.");
  }

  private HttpRequest.Builder request(URI address, Order order) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(address)
            .timeout(limits.headers())
            .header("Accept-Encoding", "identity")
            .header("User-Agent", "flotilla");
    if (!order.bearer().isEmpty() && WebAddress.sameOrigin(address, order.address())) {
      request.header("Authorization", "Bearer " + order.bearer());
    }
    return request;
  }

  private static boolean isRedirect(int status) {
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
  }

  private static URI next(Order order, URI address, String location) throws DownloadFailed {
    URI next;
    try {
      next = address.resolve(location);
    } catch (IllegalArgumentException e) {
      throw new DownloadFailed(order.source() + " is redirected to what is no address.");
    }
    String refusal = location.isEmpty() ? "is empty." : WebAddress.refusal(next);
    if (!refusal.isEmpty()) {
      throw new DownloadFailed(order.source() + " is redirected to an address that " + refusal);
    }
    return next;
  }

  static String refusal(Order order, int status) {
    String where = order.source() + " at " + WebAddress.shown(order.address());
    return switch (status) {
      case 401, 403 ->
          where
              + " is not open to us (HTTP "
              + status
              + "); if it is a gated Hugging Face repository, accept its terms and set HF_TOKEN.";
      case 404, 410 -> where + " does not exist (HTTP " + status + ").";
      default -> where + " was answered with HTTP " + status + ".";
    };
  }

  /** A strong ETag, else the date of the last change, else nothing. */
  private static String validator(HttpResponse<?> reply) {
    String etag = header(reply, "etag");
    return etag.startsWith("\"") ? etag : header(reply, "last-modified");
  }

  static String header(HttpResponse<?> reply, String name) {
    return reply.headers().firstValue(name).orElse("");
  }

  static long length(HttpResponse<?> reply) {
    OptionalLong length;
    try {
      length = reply.headers().firstValueAsLong("content-length");
    } catch (NumberFormatException e) {
      return -1;
    }
    return length.orElse(-1);
  }

  private static Duration retryAfter(HttpResponse<?> reply) {
    String value = header(reply, "retry-after");
    return value.matches("\\d{1,6}") ? Duration.ofSeconds(Long.parseLong(value)) : Duration.ZERO;
  }

  private String stalledFor() {
    return "nothing arrived for " + limits.stall().toSeconds() + " s";
  }

  private static void rethrowInterrupt(IOException e) throws InterruptedException {
    if (Thread.interrupted() || e.getCause() instanceof InterruptedException) {
      throw new InterruptedException("interrupted while fetching");
    }
  }

  private static String reason(IOException e) {
    String message = e.getMessage();
    return message == null || message.isBlank() ? e.getClass().getSimpleName() : message;
  }
}
