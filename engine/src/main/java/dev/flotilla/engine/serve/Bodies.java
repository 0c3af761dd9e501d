package dev.flotilla.engine.serve;

import dev.flotilla.engine.RequestRefused;
import io.helidon.webserver.http.ServerRequest;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import tools.jackson.databind.node.ObjectNode;

/** Reads requests' bodies, each up to its limit, and all that are held at a time up to theirs. */
final class Bodies {
  private final ServerLimits limits;
  private final AtomicLong held = new AtomicLong();

  Bodies(ServerLimits limits) {
    this.limits = limits;
  }

  /** What becomes of a body that is a JSON object, which is held as long as that takes. */
  <T> T read(ServerRequest request, Function<ObjectNode, T> use) {
    long length = request.headers().contentLength().orElse(limits.bodyBytesMax());
    if (length > limits.bodyBytesMax()) {
      throw tooLarge();
    }
    if (held.addAndGet(length) > limits.bodiesBytesMax()) {
      held.addAndGet(-length);
      throw RequestRefused.busy("the server holds as many bytes of requests as it may: try again");
    }
    try {
      return use.apply(Json.body(bytes(request)));
    } finally {
      held.addAndGet(-length);
    }
  }

  private byte[] bytes(ServerRequest request) {
    if (!request.content().hasEntity()) {
      return new byte[0];
    }
    try {
      InputStream in = request.content().inputStream();
      byte[] bytes = in.readNBytes(limits.bodyBytesMax() + 1);
      if (bytes.length > limits.bodyBytesMax()) {
        throw tooLarge();
      }
      return bytes;
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }

  private RequestRefused tooLarge() {
    return new RequestRefused(Errors.tooLarge(limits.bodyBytesMax()));
  }
}
