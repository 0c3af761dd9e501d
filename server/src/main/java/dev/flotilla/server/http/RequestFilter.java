package dev.flotilla.server.http;

import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.Headers;
import io.helidon.http.Method;
import io.helidon.webserver.http.Filter;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/**
 * Tells the connection where each of its requests stands, and refuses them when the server stops.
 */
final class RequestFilter implements Filter {
  private final RunningRequests requests;
  private final ErrorReplies errors;

  RequestFilter(RunningRequests requests, ErrorReplies errors) {
    this.requests = requests;
    this.errors = errors;
  }

  @Override
  public void filter(FilterChain chain, RoutingRequest request, RoutingResponse response) {
    ClientConnection client = ClientConnection.current();
    boolean body = RequestBody.follows(request);
    client.begun(body, request.prologue().method().equals(Method.HEAD));
    if (body) {
      long length = request.headers().contentLength().orElse(-1);
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
        errors.stopping(response);
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
