package dev.flotilla.agent.models;

import dev.flotilla.agent.models.PartFile.Note;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.channels.UnresolvedAddressException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Single requests to a file's server, by the JDK's client and always in HTTP/1.1.
 *
 * <p>Redirects are followed by hand: each new address must be allowed by {@link WebAddress}, their
 * number is bounded, and the bearer token goes to the first address's origin alone.
 */
final class FileRequests {

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

  private final HttpClient client;
  private final DownloadLimits limits;

  FileRequests(DownloadLimits limits) {
    this.limits = limits;
    this.client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(limits.connect())
            .followRedirects(HttpClient.Redirect.NEVER)
            .build();
  }

  /** Sends the request and follows redirects; {@code from} is what is here already. */
  HttpResponse<InputStream> get(Order order, @Nullable PartFile from)
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
                  + "."
                  + networkAdvice(order));
        }
        Thread.sleep(limits.pause(tries, Duration.ZERO));
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
  static String validator(HttpResponse<?> reply) {
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

  static Duration retryAfter(HttpResponse<?> reply) {
    String value = header(reply, "retry-after");
    return value.matches("\\d{1,6}") ? Duration.ofSeconds(Long.parseLong(value)) : Duration.ZERO;
  }

  static void rethrowInterrupt(IOException e) throws InterruptedException {
    if (Thread.interrupted() || e.getCause() instanceof InterruptedException) {
      throw new InterruptedException("interrupted while fetching");
    }
  }

  /** What to try where a server can't be reached at all, as a sentence after a space. */
  static String networkAdvice(Order order) {
    return " Is there a network? Behind a proxy start with FLOTILLA_JAVA_OPTS='-Dhttps.proxyHost=HOST"
        + " -Dhttps.proxyPort=PORT'"
        + (order.source().startsWith("hf:")
            ? "; HF_ENDPOINT names a mirror of Hugging Face."
            : ".");
  }

  static String reason(IOException e) {
    for (Throwable cause = e.getCause(); cause != null; cause = cause.getCause()) {
      if (cause instanceof UnresolvedAddressException) {
        return "the server's name is not known here";
      }
    }
    String message = e.getMessage();
    if (e instanceof ConnectException && (message == null || message.isBlank())) {
      return "nothing answers there";
    }
    return message == null || message.isBlank() ? e.getClass().getSimpleName() : message;
  }
}
