package dev.flotilla.agent.lanes;

import dev.flotilla.wire.lanes.ControlCodec;
import dev.flotilla.wire.lanes.ControlMessage.FromAgent;
import dev.flotilla.wire.lanes.ControlMessage.Goodbye;
import dev.flotilla.wire.lanes.ControlMessage.Heartbeat;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * Writes one session of the control lane: what waits in the outbox as soon as it is there, and a
 * heartbeat when one is due. The only writer of its connection, on a thread of its own; a write
 * that fails or hangs ends with the connection, which the reading side closes when the hub is
 * silent.
 */
final class ControlWriter {
  private static final System.Logger LOG = System.getLogger(ControlWriter.class.getName());

  private final HubConnection hub;
  private final Outbox outbox;
  private final Supplier<Heartbeat> heartbeat;
  private final long gapNanos;

  ControlWriter(
      HubConnection hub, Outbox outbox, Supplier<Heartbeat> heartbeat, int heartbeatMillis) {
    this.hub = hub;
    this.outbox = outbox;
    this.heartbeat = heartbeat;
    this.gapNanos = Duration.ofMillis(heartbeatMillis).toNanos();
  }

  /**
   * Until the connection breaks or the thread is interrupted.
   *
   * @param goodbyeSaid runs when a goodbye is on its way
   */
  void write(Runnable goodbyeSaid) {
    long due = System.nanoTime();
    List<FromAgent> batch = new ArrayList<>();
    try {
      while (true) {
        batch.addAll(outbox.take(Math.max(0, due - System.nanoTime())));
        if (System.nanoTime() - due >= 0) {
          batch.add(heartbeat.get());
          due = System.nanoTime() + gapNanos;
        }
        for (FromAgent message : batch) {
          hub.output().write(encode(message));
        }
        hub.output().flush();
        if (batch.stream().anyMatch(Goodbye.class::isInstance)) {
          goodbyeSaid.run();
        }
        batch.clear();
      }
    } catch (IOException e) {
      LOG.log(System.Logger.Level.DEBUG, "The control lane broke in writing: {0}", e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      outbox.giveBack(batch);
      hub.close();
    }
  }

  /** The message's line; nothing for one that no line can hold, which would fail for ever. */
  static byte[] encode(FromAgent message) {
    try {
      return ControlCodec.encode(message);
    } catch (IllegalArgumentException e) {
      LOG.log(System.Logger.Level.WARNING, "A message was not sent: {0}", e.getMessage());
      return new byte[0];
    }
  }
}
