package dev.flotilla.hub.lanes;

import java.time.Duration;

/** How many lanes are wanted beyond those that the agent donates by itself. Guarded by the pool. */
final class LaneDemand {
  /** How long a wish for more lanes is trusted before it is uttered again. */
  static final Duration ASK_AGAIN = Duration.ofMillis(500);

  /** Requests that wait for a lane. */
  int waiting;

  private int asked;
  private long askedAt;

  /** A lane was donated. */
  void met() {
    asked = Math.max(0, asked - 1);
  }

  /** There is another agent to ask, which knows of no wish. */
  void forgetAsked() {
    asked = 0;
  }

  /** How many lanes to ask for now, noted as asked; 0 where enough are there or on their way. */
  int ask(long now, int unopened, int room) {
    if (now - askedAt >= ASK_AGAIN.toNanos()) {
      asked = 0;
    }
    int more = Math.max(0, Math.min(waiting - unopened - asked, room));
    if (more > 0) {
      asked += more;
      askedAt = now;
    }
    return more;
  }
}
