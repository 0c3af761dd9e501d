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
    client.writing();
    try {
      socket.write(buffers);
    } finally {
      client.written();
    }
  }

  @Override
  public void write(BufferData buffer) {
    client.writing();
    try {
      socket.write(buffer);
    } finally {
      client.written();
    }
  }

  @Override
  public void writeNow(BufferData... buffers) {
    client.writing();
    try {
      socket.writeNow(buffers);
    } finally {
      client.written();
    }
  }

  @Override
  public void writeNow(BufferData buffer) {
    client.writing();
    try {
      socket.writeNow(buffer);
    } finally {
      client.written();
    }
  }

  @Override
  public void flush() {
    client.writing();
    try {
      socket.flush();
    } finally {
      client.written();
    }
  }

  @Override
  public void close() {
    socket.close();
  }
}
