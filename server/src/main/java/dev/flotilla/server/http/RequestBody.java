package dev.flotilla.server.http;

import dev.flotilla.wire.openai.ApiError;
import io.helidon.common.buffers.DataReader;
import io.helidon.http.HeaderNames;
import io.helidon.http.RequestException;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.http.ServerRequest;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;

/** Reads a request's body whole, within a limit of its own and its share of what all may hold. */
public final class RequestBody {
  private static final int FIRST_BYTES = 8 << 10;

  private RequestBody() {}

  /** Why a body was not read. */
  public enum Why {
    /** It is larger than one body may be. */
    TOO_LARGE,
    /** All bodies together would be larger than they may be. */
    NO_ROOM,
    /** Its chunks are not well-formed. */
    MALFORMED,
    /** The client went away in the middle of it. */
    CLIENT_GONE
  }

  /** A body was not read. */
  public static final class Unread extends Exception {
    private static final long serialVersionUID = 1;

    private final Why why;

    Unread(Why why) {
      super(why.name(), null, false, false);
      this.why = why;
    }

    public Why why() {
      return why;
    }
  }

  /** Whether a body follows the request's head. */
  static boolean follows(ServerRequest request) {
    return request.headers().contentLength().orElse(0) > 0
        || request.headers().contains(HeaderNames.TRANSFER_ENCODING);
  }

  /**
   * The body, empty where none follows.
   *
   * @param share grows by as much as is held; whoever asks gives it back, also after a failure
   */
  public static byte[] read(ServerRequest request, long bytesMax, BodyBudget.Share share)
      throws Unread {
    long length = request.headers().contentLength().orElse(-1);
    if (length > bytesMax) {
      throw new Unread(Why.TOO_LARGE);
    }
    if (!follows(request)) {
      return new byte[0];
    }
    try {
      InputStream in = request.content().inputStream();
      return length >= 0 ? known(in, (int) length, share) : chunks(in, bytesMax, share);
    } catch (IOException
        | UncheckedIOException
        | CloseConnectionException
        | DataReader.InsufficientDataAvailableException cut) {
      throw new Unread(Why.CLIENT_GONE);
    } catch (RuntimeException refused) {
      // What else Helidon throws here has no common type, and says that the framing is broken.
      throw new Unread(
          refused instanceof RequestException known && known.status().code() == 413
              ? Why.TOO_LARGE
              : Why.MALFORMED);
    }
  }

  private static byte[] known(InputStream in, int length, BodyBudget.Share share)
      throws Unread, IOException {
    grow(share, length);
    byte[] bytes = in.readNBytes(length);
    // The read beyond the end tells Helidon that nothing is left to be skipped.
    if (bytes.length < length || in.read() >= 0) {
      throw new Unread(Why.CLIENT_GONE);
    }
    return bytes;
  }

  /** Of a body that comes in chunks nobody knows the length: its share grows as it is read. */
  private static byte[] chunks(InputStream in, long bytesMax, BodyBudget.Share share)
      throws Unread, IOException {
    grow(share, FIRST_BYTES);
    byte[] bytes = new byte[FIRST_BYTES];
    int length = 0;
    while (true) {
      int read = in.read(bytes, length, bytes.length - length);
      if (read < 0) {
        return Arrays.copyOf(bytes, length);
      }
      length += read;
      if (length > bytesMax) {
        throw new Unread(Why.TOO_LARGE);
      }
      if (length == bytes.length) {
        int grown = (int) Math.min(2L * length, bytesMax + 1);
        grow(share, grown - length);
        bytes = Arrays.copyOf(bytes, grown);
      }
    }
  }

  /**
   * The refusal of a body that is larger than the server reads.
   *
   * @param whose whose limit that is, and where it is set if it can be
   */
  public static ApiError tooLarge(long bytesMax, String whose) {
    return new ApiError(
        413,
        "invalid_request_error",
        "request_too_large",
        "the request's body is larger than " + bytesMax + " bytes, which is this " + whose,
        null,
        null);
  }

  /** The refusal of a body whose chunks are not well-formed. */
  public static ApiError malformed() {
    return ApiError.badRequest(
        "malformed_http", "the chunks of the request's body are not well-formed", null);
  }

  private static void grow(BodyBudget.Share share, long more) throws Unread {
    if (!share.grow(more)) {
      throw new Unread(Why.NO_ROOM);
    }
  }
}
