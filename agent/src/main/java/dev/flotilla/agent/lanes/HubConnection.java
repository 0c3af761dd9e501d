package dev.flotilla.agent.lanes;

import dev.flotilla.wire.Connection;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.time.Duration;

/** A connection that the agent dialled to the hub. */
final class HubConnection implements Connection {
  private static final int READ_AHEAD_BYTES = 8192;

  private final Socket socket;
  private final Socket stream;
  private final InputStream input;
  private final OutputStream output;

  /**
   * @param stream what is spoken through: {@code socket} itself, or TLS over it
   */
  HubConnection(Socket socket, Socket stream) throws IOException {
    this.socket = socket;
    this.stream = stream;
    // Reads of more than its size pass this buffer by once it is empty, so copying pays nothing.
    this.input = new BufferedInputStream(stream.getInputStream(), READ_AHEAD_BYTES);
    this.output = stream.getOutputStream();
  }

  @Override
  public InputStream input() {
    return input;
  }

  @Override
  public OutputStream output() {
    return output;
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
  }
}
