package dev.flotilla.agent.lanes;

import dev.flotilla.wire.connection.Connection;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Optional;
import javax.net.ssl.SSLSocket;

/** A connection that the agent dialled to the hub. */
final class HubConnection implements Connection {
  private static final int READ_AHEAD_BYTES = 8192;

  private final Socket socket;
  private final Socket stream;
  private final ReadAhead input;
  private final OutputStream output;
  private volatile Runnable closed = () -> {};

  /**
   * @param stream what is spoken through: {@code socket} itself, or TLS over it
   */
  HubConnection(Socket socket, Socket stream) throws IOException {
    this.socket = socket;
    this.stream = stream;
    this.input = new ReadAhead(stream.getInputStream(), READ_AHEAD_BYTES);
    this.output = stream.getOutputStream();
  }

  @Override
  public InputStream input() {
    return input;
  }

  /** Waits for the next byte, which stays unread; false where the hub ended the connection. */
  boolean awaitByte() throws IOException {
    return input.awaitByte();
  }

  @Override
  public OutputStream output() {
    return output;
  }

  /** The socket's channel; empty where TLS lies over it. */
  Optional<SocketChannel> channel() {
    return stream instanceof SSLSocket
        ? Optional.empty()
        : Optional.ofNullable(socket.getChannel());
  }

  /** Takes what has arrived and was not read, for whoever goes on with the channel. */
  byte[] readAhead() {
    return input.take();
  }

  /** Is run after a {@link #close}, on its thread; at once where it is closed already. */
  void onClose(Runnable action) {
    closed = action;
    if (socket.isClosed()) {
      action.run();
    }
  }

  /** From the next read on; zero for no limit. */
  void readLimit(Duration limit) throws IOException {
    stream.setSoTimeout((int) limit.toMillis());
  }

  /** Says that nothing more comes from here, after everything that was written. */
  void endOutput() throws IOException {
    stream.shutdownOutput();
  }

  /**
   * Closes the socket below TLS: TLS's own close would wait for a writer that is stuck, and the end
   * of a lane must be felt at once.
   */
  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      System.getLogger(HubConnection.class.getName())
          .log(System.Logger.Level.DEBUG, "A connection did not close: {0}", e.getMessage());
    }
    closed.run();
  }
}
