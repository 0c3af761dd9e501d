package dev.flotilla.hub.gateway;

import dev.flotilla.server.http.BodyBudget;
import dev.flotilla.server.http.RequestBody;
import dev.flotilla.server.http.RequestBody.Unread;
import dev.flotilla.wire.openai.ApiError;
import io.helidon.webserver.http.ServerRequest;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Reads request bodies into memory, each up to the configured size, all together up to their part
 * of the heap: a body that would go beyond is refused with a 503 before it is read.
 */
final class RequestBodies {
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
  static final class Body implements AutoCloseable {
    private final byte[] bytes;
    private final BodyBudget.Share share;

    private Body(byte[] bytes, BodyBudget.Share share) {
      this.bytes = bytes;
      this.share = share;
    }

    byte[] bytes() {
      return bytes;
    }

    @Override
    public void close() {
      share.close();
    }
  }

  /** Reads the body whole. */
  Body read(ServerRequest request) throws Refusal, ClientGone {
    long max = bodyBytesMax.getAsLong();
    BodyBudget.Share share = budget.share();
    try {
      return new Body(RequestBody.read(request, max, share), share);
    } catch (Unread unread) {
      share.close();
      throw switch (unread.why()) {
        case CLIENT_GONE -> throw new ClientGone();
        case TOO_LARGE -> Refusal.refused(HubListener.bodyTooLarge(max));
        case NO_ROOM -> Refusal.refused(noRoom());
        case MALFORMED -> Refusal.refused(RequestBody.malformed());
      };
    }
  }

  private ApiError noRoom() {
    return ApiError.unavailable(
        "hub_memory",
        "the hub holds as many bytes of requests as it may (" + totalBytesMax + "); try again",
        Duration.ofSeconds(1));
  }
}
