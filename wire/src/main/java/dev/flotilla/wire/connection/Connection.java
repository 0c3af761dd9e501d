package dev.flotilla.wire.connection;

import java.io.InputStream;
import java.io.OutputStream;

/**
 * A byte stream to one engine: a socket that the hub dialled, or a lane that an agent donated. The
 * HTTP client cannot tell them apart. {@link #close()} may be called by any thread at any time and
 * ends a read that waits.
 */
public interface Connection extends AutoCloseable {
  InputStream input();

  OutputStream output();

  @Override
  void close();
}
