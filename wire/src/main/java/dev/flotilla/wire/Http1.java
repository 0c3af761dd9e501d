package dev.flotilla.wire;

import java.io.IOException;

/** A strict HTTP/1.1 client over one connection, one exchange after the other. */
@SuppressWarnings("DoNotCallSuggester")
public final class Http1 implements AutoCloseable {
  private final Connection connection;
  private final String host;
  private final Http1Limits limits;

  /**
   * @param host what the {@code Host} header says: a name or an address, and a port where it is not
   *     the scheme's own
   */
  public Http1(Connection connection, String host, Http1Limits limits) {
    this.connection = connection;
    this.host = host;
    this.limits = limits;
  }

  /** Sends the call and waits for the head of its reply. */
  public HttpReply exchange(HttpCall call) throws IOException {
    throw new UnsupportedOperationException(host + limits + call.target());
  }

  public Connection connection() {
    return connection;
  }

  @Override
  public void close() {
    connection.close();
  }
}
