package dev.flotilla.wire;

import java.io.InputStream;

/** The head of a reply, and its body as it comes. */
public interface HttpReply {
  int status();

  HttpHeaders headers();

  /**
   * The body. A read returns at least one byte, and with it whatever else has already arrived and
   * fits, across the borders of chunks: one flush can carry it on.
   */
  InputStream body();

  /**
   * Whether the connection can carry the next exchange: the body was read to its end, ended whole
   * by its own framing, and both sides keep the connection.
   */
  boolean reusable();
}
