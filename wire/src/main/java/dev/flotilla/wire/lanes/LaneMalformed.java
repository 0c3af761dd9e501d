package dev.flotilla.wire.lanes;

import java.io.IOException;

/** The other end of a lane sent what no lane carries; the lane is of no further use. */
public final class LaneMalformed extends IOException {
  private static final long serialVersionUID = 1;

  public LaneMalformed(String message) {
    super(message);
  }
}
