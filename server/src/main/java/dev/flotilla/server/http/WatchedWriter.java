package dev.flotilla.server.http;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataWriter;

/**
 * What is written to a client, each write with its beginning and end told: a write may wait for as
 * long as the client does not read.
 */
final class WatchedWriter implements DataWriter {
  private final DataWriter socket;
  private final ClientConnection client;

  WatchedWriter(DataWriter socket, ClientConnection client) {
    this.socket = socket;
    this.client = client;
  }

  @Override
  public void write(BufferData... buffers) {
    watched(() -> socket.write(buffers));
  }

  @Override
  public void write(BufferData buffer) {
    watched(() -> socket.write(buffer));
  }

  @Override
  public void writeNow(BufferData... buffers) {
    watched(() -> socket.writeNow(buffers));
  }

  @Override
  public void writeNow(BufferData buffer) {
    watched(() -> socket.writeNow(buffer));
  }

  @Override
  public void flush() {
    watched(socket::flush);
  }

  @Override
  public void close() {
    socket.close();
  }

  private void watched(Runnable write) {
    client.writing();
    try {
      write.run();
    } finally {
      client.written();
    }
  }
}
