package dev.flotilla.wire.http;

import java.io.IOException;

/**
 * An engine sent something that is not what it should be: broken HTTP, an event or a line beyond
 * its limit. The message says what was expected and what came; the connection is of no further use.
 */
public final class ReplyMalformed extends IOException {
  private static final long serialVersionUID = 1;

  public ReplyMalformed(String message) {
    super(message);
  }
}
