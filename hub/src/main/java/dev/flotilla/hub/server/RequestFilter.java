package dev.flotilla.hub.server;

import dev.flotilla.wire.openai.ApiError;
import dev.flotilla.wire.server.RunningRequests;
import dev.flotilla.wire.text.Names;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.Headers;
import io.helidon.http.HttpException;
import io.helidon.http.Method;
import io.helidon.webserver.http.Filter;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;

/** Tells the connection where each of its requests stands, and refuses them when the hub stops. */
final class RequestFilter implements Filter {
  private static final Logger log = System.getLogger(RequestFilter.class.getName());

  private static final ApiError STOPPING =
      ApiError.unavailable(
          "hub_stops",
          "the hub is stopping: ask again when it has been started anew",
          Duration.ofSeconds(5));

  private final RunningRequests requests;

  RequestFilter(RunningRequests requests) {
    this.requests = requests;
  }

  @Override
  public void filter(FilterChain chain, RoutingRequest request, RoutingResponse response) {
    ClientConnection client = ClientConnection.current();
    long length = request.headers().contentLength().orElse(-1);
    boolean body = length > 0 || request.headers().contains(HeaderNames.TRANSFER_ENCODING);
    client.begun(body, request.prologue().method().equals(Method.HEAD));
    if (body) {
      request.streamFilter(in -> new Body(in, client, length));
    }
    try {
      if (requests.enter()) {
        try {
          chain.proceed();
        } finally {
          client.part();
          requests.leave();
        }
      } else {
        response.header(HeaderValues.CONNECTION_CLOSE);
        if (body) {
          client.lingerAfterReply();
        }
        JsonErrors.send(response, STOPPING);
      }
    } finally {
      client.ended();
      if (closes(request.headers()) || closes(response.headers())) {
        client.closeAfterReply();
      }
    }
  }

  /** Asked for every request, where the header is seldom there and seldom says anything new. */
  private static boolean closes(Headers headers) {
    return headers.contains(HeaderNames.CONNECTION)
        && !headers.get(HeaderNames.CONNECTION).get().equalsIgnoreCase("keep-alive")
        && headers.containsToken(HeaderValues.CONNECTION_CLOSE);
  }

  /** A handler's bug: the client is told that much, the log the rest. */
  static void bug(ServerRequest request, ServerResponse response, Throwable bug) {
    if (bug instanceof HttpException refusal) {
      throw refusal;
    }
    String what = request.prologue().method() + " " + Names.shown(request.path().path());
    log.log(Level.ERROR, what + " failed in the hub", bug);
    JsonErrors.send(
        response,
        new ApiError(
            500,
            "server_error",
            "internal_error",
            "the hub failed on this request; its log says more",
            null,
            null));
  }

  private static final class Body extends FilterInputStream {
    private final ClientConnection client;
    private final long length;
    private long arrived;

    Body(InputStream in, ClientConnection client, long length) {
      super(in);
      this.client = client;
      this.length = length;
    }

    @Override
    public int read() throws IOException {
      int read = super.read();
      count(read < 0 ? -1 : 1);
      return read;
    }

    @Override
    public int read(byte[] bytes, int offset, int count) throws IOException {
      int read = super.read(bytes, offset, count);
      count(read);
      return read;
    }

    private void count(int read) {
      if (read > 0) {
        arrived += read;
        client.bodyArrived(read);
      }
      if (read < 0 || arrived == length) {
        client.bodyRead();
      }
    }
  }
}
