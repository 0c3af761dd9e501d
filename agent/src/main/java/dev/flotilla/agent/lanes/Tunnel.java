package dev.flotilla.agent.lanes;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * Bytes between an opened lane and an engine, both ways, until either side closes.
 *
 * <p>The hub's end of the lane is felt by the engine at once: its socket is closed, and the engine
 * stops to generate. The engine's end is told to the hub after the last byte, and the lane stays
 * open for a moment while the hub's remaining bytes are thrown away: closing a socket with unread
 * bytes would make the kernel discard a reply that is still on its way, such as an early 413.
 */
final class Tunnel {
  private static final int BUFFER_BYTES = 16 << 10;

  private final HubConnection hub;
  private final Socket engine;
  private final Duration linger;
  private final LongAdder bytesIn;
  private final LongAdder bytesOut;
  private final CountDownLatch hubEnded = new CountDownLatch(1);

  Tunnel(HubConnection hub, Socket engine, Duration linger, LongAdder bytesIn, LongAdder bytesOut) {
    this.hub = hub;
    this.engine = engine;
    this.linger = linger;
    this.bytesIn = bytesIn;
    this.bytesOut = bytesOut;
  }

  /** Copies until the end; closes both. */
  void carry() throws IOException {
    Thread back = Thread.ofVirtual().name("work-lane-back").start(this::fromEngine);
    try {
      fromHub();
    } finally {
      hubEnded.countDown();
      engine.close();
      hub.close();
      join(back);
    }
  }

  private void fromHub() {
    byte[] buffer = new byte[BUFFER_BYTES];
    boolean engineTakes = true;
    try {
      InputStream in = hub.input();
      OutputStream out = engine.getOutputStream();
      for (int count; (count = in.read(buffer)) >= 0; ) {
        if (engineTakes) {
          engineTakes = write(out, buffer, count);
        }
      }
    } catch (IOException e) {
      System.getLogger(Tunnel.class.getName())
          .log(System.Logger.Level.TRACE, "The hub''s side ended: {0}", e.getMessage());
    }
  }

  /** Whether the engine still takes bytes; where not, its last words may still be on their way. */
  private boolean write(OutputStream out, byte[] buffer, int count) {
    try {
      out.write(buffer, 0, count);
      bytesIn.add(count);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private void fromEngine() {
    byte[] buffer = new byte[BUFFER_BYTES];
    try {
      InputStream in = engine.getInputStream();
      OutputStream out = hub.output();
      for (int count; (count = in.read(buffer)) >= 0; ) {
        out.write(buffer, 0, count);
        bytesOut.add(count);
      }
      hub.endOutput();
      if (!hubEnded.await(linger.toNanos(), TimeUnit.NANOSECONDS)) {
        hub.close();
      }
    } catch (IOException e) {
      hub.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      hub.close();
    }
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
