package dev.flotilla.hub.gateway;

import dev.flotilla.hub.server.JsonErrors;
import dev.flotilla.wire.openai.ApiError;
import dev.flotilla.wire.server.BodyBudget;
import io.helidon.common.buffers.DataReader;
import io.helidon.http.HeaderNames;
import io.helidon.http.RequestException;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.http.ServerRequest;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.function.LongSupplier;

/**
 * Reads request bodies into memory, each up to the configured size, all together up to their part
 * of the heap: a body that would go beyond is refused with a 503 before it is read.
 */
final class RequestBodies {
  private static final int FIRST_BYTES = 8 << 10;

  private final LongSupplier bodyBytesMax;
  private final long totalBytesMax;
  private final BodyBudget budget;

  /**
   * @param bodyBytesMax largest body now
   */
  RequestBodies(LongSupplier bodyBytesMax, long totalBytesMax) {
    this.bodyBytesMax = bodyBytesMax;
    this.totalBytesMax = totalBytesMax;
    budget = new BodyBudget(totalBytesMax);
  }

  /** A body, counted until it is closed. */
  final class Body implements AutoCloseable {
    private byte[] bytes = new byte[0];
    private final BodyBudget.Share share = budget.share();

    byte[] bytes() {
      return bytes;
    }

    private void count(long more) throws Refusal {
      if (!share.grow(more)) {
        throw Refusal.refused(
            ApiError.unavailable(
                "hub_memory",
                "the hub holds as many bytes of requests as it may ("
                    + totalBytesMax
                    + "); try again",
                Duration.ofSeconds(1)));
      }
    }

    @Override
    public void close() {
      share.close();
    }
  }

  /** Whether a body follows the request's head. */
  static boolean follows(ServerRequest request) {
    return request.headers().contentLength().orElse(0) > 0
        || request.headers().contains(HeaderNames.TRANSFER_ENCODING);
  }

  /** Reads the body whole. */
  Body read(ServerRequest request) throws Refusal, ClientGone {
    long max = bodyBytesMax.getAsLong();
    long length = request.headers().contentLength().orElse(-1);
    if (length > max) {
      throw tooLarge(max);
    }
    Body body = new Body();
    if (!follows(request)) {
      return body;
    }
    boolean read = false;
    try {
      InputStream in = request.content().inputStream();
      if (length >= 0) {
        body.count(length);
        body.bytes = in.readNBytes((int) length);
        // The read beyond the end tells Helidon that nothing is left to be skipped.
        if (body.bytes.length < length || in.read() >= 0) {
          throw new ClientGone();
        }
      } else {
        body.bytes = chunks(in, body, max);
      }
      read = true;
      return body;
    } catch (IOException
        | UncheckedIOException
        | CloseConnectionException
        | DataReader.InsufficientDataAvailableException cut) {
      throw new ClientGone();
    } catch (RuntimeException refused) {
      // What else Helidon throws here has no common type, and says that the framing is broken.
      if (refused instanceof RequestException known && known.status().code() == 413) {
        throw tooLarge(max);
      }
      throw Refusal.refused(
          ApiError.badRequest(
              "malformed_http", "the chunks of the request's body are not well-formed", null));
    } finally {
      if (!read) {
        body.close();
      }
    }
  }

  private static byte[] chunks(InputStream in, Body body, long max) throws Refusal, IOException {
    byte[] bytes = new byte[FIRST_BYTES];
    body.count(bytes.length);
    int length = 0;
    while (true) {
      int read = in.read(bytes, length, bytes.length - length);
      if (read < 0) {
        return Arrays.copyOf(bytes, length);
      }
      length += read;
      if (length > max) {
        throw tooLarge(max);
      }
      if (length == bytes.length) {
        int grown = (int) Math.min(2L * length, max + 1);
        body.count(grown - length);
        bytes = Arrays.copyOf(bytes, grown);
      }
    }
  }

  private static Refusal tooLarge(long max) {
    return Refusal.refused(JsonErrors.bodyTooLarge(max));
  }
}
