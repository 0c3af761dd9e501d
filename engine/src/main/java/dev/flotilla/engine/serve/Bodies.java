package dev.flotilla.engine.serve;

import dev.flotilla.engine.RequestRefused;
import dev.flotilla.server.http.BodyBudget;
import dev.flotilla.server.http.BodyBudget.Share;
import dev.flotilla.server.http.RequestBody;
import dev.flotilla.server.http.RequestBody.Unread;
import dev.flotilla.wire.openai.ApiError;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.http.ServerRequest;
import java.util.function.Consumer;

/**
 * Reads requests' bodies, each up to its limit, and all that are held at a time up to theirs, with
 * what else of requests takes much room.
 */
final class Bodies {
  private final long bytesMax;
  private final BodyBudget budget;

  Bodies(ServeLimits limits) {
    bytesMax = limits.server().bodyBytesMax();
    budget = new BodyBudget(limits.bodiesBytesMax());
  }

  /** What becomes of a body, which is held as long as that takes. */
  void read(ServerRequest request, Consumer<byte[]> use) {
    try (Share share = budget.share()) {
      use.accept(bytes(request, share));
    }
  }

  private byte[] bytes(ServerRequest request, Share share) {
    try {
      return RequestBody.read(request, bytesMax, share);
    } catch (Unread unread) {
      throw switch (unread.why()) {
        case CLIENT_GONE ->
            new CloseConnectionException("the client went away in the middle of its request");
        case TOO_LARGE -> new RequestRefused(tooLarge(bytesMax));
        case NO_ROOM -> noRoom();
        case MALFORMED -> new RequestRefused(RequestBody.malformed());
      };
    }
  }

  /** What is done while so many more bytes are held, which count as bodies do. */
  void holding(long bytes, Runnable use) {
    try (Share share = budget.share()) {
      if (!share.grow(bytes)) {
        throw noRoom();
      }
      use.run();
    }
  }

  private static RequestRefused noRoom() {
    return RequestRefused.busy("the server holds as many bytes of requests as it may: try again");
  }

  /** The refusal of a body that is larger than the server reads. */
  static ApiError tooLarge(long bytesMax) {
    return RequestBody.tooLarge(bytesMax, "server's limit");
  }
}
