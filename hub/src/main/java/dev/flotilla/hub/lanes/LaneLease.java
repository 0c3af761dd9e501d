package dev.flotilla.hub.lanes;

import dev.flotilla.hub.routing.Dialer;
import dev.flotilla.wire.connection.Connection;
import dev.flotilla.wire.http.Http1;

/** A lane that one request holds. */
final class LaneLease implements Dialer.Lease {
  private final WorkLanePool pool;
  private final WorkLane lane;
  private final boolean reused;

  LaneLease(WorkLanePool pool, WorkLane lane, boolean reused) {
    this.pool = pool;
    this.lane = lane;
    this.reused = reused;
  }

  @Override
  public Connection connection() {
    return lane;
  }

  @Override
  public boolean reused() {
    return reused;
  }

  @Override
  public Http1 http1(String host) {
    return lane.http1(host);
  }

  @Override
  public void keep() {
    pool.keep(lane);
  }
}
