package dev.flotilla.hub.api;

import dev.flotilla.wire.lanes.ControlMessage.Severity;
import java.time.Instant;
import java.util.List;

/**
 * How the hub is, in one look.
 *
 * @param address how it is called from where it runs
 * @param ready whether a request can be served now
 * @param revision number of the configuration in force, 0 before the first
 * @param keysDemanded whether requests without a key are refused
 * @param tls whether its listener is encrypted
 * @param notices what a person must know before anything else, worst first
 */
public record HubStatus(
    String version,
    String address,
    Instant startedAt,
    boolean ready,
    long revision,
    boolean keysDemanded,
    boolean tls,
    List<Notice> notices) {

  public HubStatus {
    notices = List.copyOf(notices);
  }

  /**
   * One of them.
   *
   * @param code stable word, such as {@code store-failing}
   * @param message what happened, where, and what to do
   */
  public record Notice(Severity severity, String code, String message) {}
}
