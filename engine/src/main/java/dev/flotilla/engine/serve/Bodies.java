package dev.flotilla.engine.serve;

import dev.flotilla.engine.RequestRefused;
import dev.flotilla.wire.openai.ApiError;
import dev.flotilla.wire.server.BodyBudget;
import dev.flotilla.wire.server.BodyBudget.Share;
import io.helidon.common.buffers.DataReader;
import io.helidon.http.RequestException;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.http.ServerRequest;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.function.Consumer;

/**
 * Reads requests' bodies, each up to its limit, and all that are held at a time up to theirs, with
 * what else of requests takes much room.
 */
final class Bodies {
  private static final int PIECE_BYTES = 16 << 10;

  private final ServerLimits limits;
  private final BodyBudget budget;

  Bodies(ServerLimits limits) {
    this.limits = limits;
    budget = new BodyBudget(limits.bodiesBytesMax());
  }

  /** What becomes of a body, which is held as long as that takes. */
  void read(ServerRequest request, Consumer<byte[]> use) {
    long length = request.headers().contentLength().orElse(0);
    if (length > limits.bodyBytesMax()) {
      throw tooLarge();
    }
    try (Share share = budget.share()) {
      grow(share, length);
      use.accept(bytes(request, share, length));
    }
  }

  /** What is done while so many more bytes are held, which count as bodies do. */
  void holding(long bytes, Runnable use) {
    try (Share share = budget.share()) {
      grow(share, bytes);
      use.run();
    }
  }

  private static void grow(Share share, long more) {
    if (!share.grow(more)) {
      throw RequestRefused.busy("the server holds as many bytes of requests as it may: try again");
    }
  }

  /** Of a body that comes in chunks nobody knows the length: its share grows as it is read. */
  private byte[] bytes(ServerRequest request, Share share, long announced) {
    if (!request.content().hasEntity()) {
      return new byte[0];
    }
    try {
      InputStream in = request.content().inputStream();
      ByteArrayOutputStream body = new ByteArrayOutputStream((int) announced);
      byte[] piece = new byte[PIECE_BYTES];
      for (int read = in.read(piece); read >= 0; read = in.read(piece)) {
        body.write(piece, 0, read);
        WatchedConnection.current().bodyArrived(read);
        if (body.size() > limits.bodyBytesMax()) {
          throw tooLarge();
        }
        if (announced == 0) {
          grow(share, read);
        }
      }
      WatchedConnection.current().bodyRead();
      return body.toByteArray();
    } catch (IOException
        | UncheckedIOException
        | CloseConnectionException
        | DataReader.InsufficientDataAvailableException cut) {
      throw new CloseConnectionException("the client went away in the middle of its request", cut);
    } catch (RequestRefused refused) {
      throw refused;
    } catch (RuntimeException refused) {
      // What else Helidon throws here has no common type, and says that the framing is broken.
      if (refused instanceof RequestException known && known.status().code() == 413) {
        throw tooLarge();
      }
      throw new RequestRefused(
          ApiError.badRequest(
              "malformed_http", "the chunks of the request's body are not well-formed", null));
    }
  }

  private RequestRefused tooLarge() {
    return new RequestRefused(Errors.tooLarge(limits.bodyBytesMax()));
  }
}
