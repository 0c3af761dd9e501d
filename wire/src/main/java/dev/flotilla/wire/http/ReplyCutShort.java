package dev.flotilla.wire.http;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The connection ended, or failed, before the reply was whole. What had arrived was delivered
 * before this is thrown.
 */
public final class ReplyCutShort extends IOException {
  private static final long serialVersionUID = 1;

  private final boolean beforeFirstByte;

  public ReplyCutShort(String message, boolean beforeFirstByte, @Nullable Throwable cause) {
    super(message, cause);
    this.beforeFirstByte = beforeFirstByte;
  }

  /**
   * Whether not one byte of the reply had arrived: on a reused connection, the sign that the engine
   * had closed it while it was idle.
   */
  public boolean beforeFirstByte() {
    return beforeFirstByte;
  }
}
