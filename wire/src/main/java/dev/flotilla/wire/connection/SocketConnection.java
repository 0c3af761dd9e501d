package dev.flotilla.wire.connection;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;

/** A connection that is a socket: to a backend from the hub, to a loopback port from the agent. */
public final class SocketConnection implements Connection {
  private final Socket socket;
  private final InputStream input;
  private final OutputStream output;

  /** Takes over a connected socket, such as one of TLS. */
  public SocketConnection(Socket socket) throws IOException {
    this.socket = socket;
    this.input = socket.getInputStream();
    this.output = socket.getOutputStream();
  }

  /**
   * Connects without delay of small writes.
   *
   * @throws IOException if there is no connection within that time
   */
  public static SocketConnection dial(InetSocketAddress address, Duration within)
      throws IOException {
    Socket socket = new Socket();
    try {
      socket.setTcpNoDelay(true);
      socket.connect(address, Math.clamp(within.toMillis(), 1, Integer.MAX_VALUE));
      return new SocketConnection(socket);
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  @Override
  public InputStream input() {
    return input;
  }

  @Override
  public OutputStream output() {
    return output;
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException _) {
      // The other end sees the end either way; nothing is left to be done about this one.
    }
  }
}
