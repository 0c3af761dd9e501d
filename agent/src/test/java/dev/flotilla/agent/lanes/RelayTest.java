package dev.flotilla.agent.lanes;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RelayTest {
  private static final byte[] EARLY = "early ".getBytes(US_ASCII);

  /** A socket of a test, and the channel of the relay at its other side. */
  private record Ends(Socket outside, SocketChannel inside) {}

  private final Relay relay = new Relay(Duration.ofMinutes(1)).start();
  private final LongAdder in = new LongAdder();
  private final LongAdder out = new LongAdder();
  private final List<Socket> sockets = new ArrayList<>();
  private ServerSocket listener;

  @BeforeEach
  void listen() throws IOException {
    listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  }

  @AfterEach
  void close() throws IOException {
    relay.close();
    listener.close();
    for (Socket socket : sockets) {
      socket.close();
    }
  }

  private Ends ends() throws IOException {
    SocketChannel inside =
        SocketChannel.open(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), listener.getLocalPort()));
    Socket outside = listener.accept();
    sockets.add(outside);
    return new Ends(outside, inside);
  }

  private CompletableFuture<Void> carried(Relay.Carried lane) {
    CompletableFuture<Void> over = new CompletableFuture<>();
    Thread.ofVirtual()
        .start(() -> {
          try {
            lane.carry();
            over.complete(null);
          } catch (IOException e) {
            over.completeExceptionally(e);
          }
        });
    return over;
  }

  @Test
  void aLaneThatNobodyReadsHoldsUpNoOther() throws Exception {
    Ends slowHub = ends();
    Ends flooding = ends();
    CompletableFuture<Void> stuck =
        carried(relay.lane(slowHub.inside(), flooding.inside(), EARLY, in, out));
    Thread.ofVirtual()
        .start(() -> {
          try {
            byte[] chunk = new byte[1 << 16];
            while (true) {
              flooding.outside().getOutputStream().write(chunk);
            }
          } catch (IOException over) {
            // The lane was cut.
          }
        });
    assertThat(flooding.outside().getInputStream().readNBytes(EARLY.length)).isEqualTo(EARLY);

    Ends hub = ends();
    Ends engine = ends();
    Relay.Carried lane = relay.lane(hub.inside(), engine.inside(), EARLY, in, out);
    CompletableFuture<Void> over = carried(lane);
    for (int i = 0; i < 100; i++) {
      hub.outside().getOutputStream().write(i);
      if (i == 0) {
        assertThat(engine.outside().getInputStream().readNBytes(EARLY.length)).isEqualTo(EARLY);
      }
      assertThat(engine.outside().getInputStream().read()).isEqualTo(i);
      engine.outside().getOutputStream().write(i);
      assertThat(hub.outside().getInputStream().read()).isEqualTo(i);
    }
    lane.cut();
    over.get(20, TimeUnit.SECONDS);
    assertThat(engine.outside().getInputStream().read()).isEqualTo(-1);
    assertThat(stuck).isNotDone();
  }

  @Test
  void theEndOfTheRelayIsTheEndOfEveryLaneAlsoOfOneThatComesTooLate() throws Exception {
    Ends hub = ends();
    Ends engine = ends();
    CompletableFuture<Void> over =
        carried(relay.lane(hub.inside(), engine.inside(), EARLY, in, out));
    assertThat(engine.outside().getInputStream().readNBytes(EARLY.length)).isEqualTo(EARLY);

    relay.close();
    over.get(20, TimeUnit.SECONDS);
    assertThat(hub.outside().getInputStream().read()).isEqualTo(-1);

    Ends late = ends();
    carried(relay.lane(late.inside(), ends().inside(), EARLY, in, out)).get(20, TimeUnit.SECONDS);
    assertThat(late.outside().getInputStream().read()).isEqualTo(-1);
  }
}
