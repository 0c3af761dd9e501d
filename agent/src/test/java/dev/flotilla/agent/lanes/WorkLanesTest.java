package dev.flotilla.agent.lanes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.agent.lanes.LaneUpgrade.Caller;
import dev.flotilla.wire.lanes.ControlMessage.LaneCount;
import dev.flotilla.wire.lanes.ControlMessage.Welcome;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class WorkLanesTest {
  private static final Caller CALLER = new Caller("node-1", 1, "secret-1");

  private final FakeWorkers workers = new FakeWorkers();
  private FakeHub hub;
  private ServerSocket engine;
  private WorkLanes lanes;

  @BeforeEach
  void start() throws IOException {
    hub = new FakeHub();
    engine = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    workers.ports.put("node-1/m-1 7", engine.getLocalPort());
    HubDialer dialer = new HubDialer(hub.address(), Optional.empty(), AgentLaneLimits.DEFAULT);
    lanes = new WorkLanes(dialer, workers, AgentLaneLimits.DEFAULT, new Random(1));
    lanes.begin(new Welcome("hub-1", 1000, 2, 6), CALLER);
  }

  @AfterEach
  void stop() throws IOException {
    lanes.checkInvariants();
    lanes.close();
    engine.close();
    hub.close();
  }

  @Test
  void anOpenedLaneLeadsToTheEngineAndIsReplaced() throws Exception {
    FakeHub.Lane lane = hub.nextWork();
    hub.nextWork();

    assertThat(lane.open("node-1/m-1", 7)).isEqualTo("OPENED");
    hub.nextWork();
    try (Socket socket = engine.accept()) {
      lane.sendBytes("ping\n".getBytes(StandardCharsets.US_ASCII));
      assertThat(FakeHub.line(socket.getInputStream())).isEqualTo("ping");
      socket.getOutputStream().write("pong\n".getBytes(StandardCharsets.US_ASCII));
      assertThat(FakeHub.line(lane.in)).isEqualTo("pong");
      lane.close();
      await().until(() -> lanes.opened() == 0);
    }
    assertThat(lanes.waiting()).isEqualTo(2);
    assertThat(lanes.counts()).containsExactly(new LaneCount("node-1/m-1", 1, 1, 0, 5, 5));
  }

  @Test
  void bytesSentBehindOpenAreTheEnginesFirst() throws Exception {
    FakeHub.Lane lane = hub.nextWork();
    lane.sendBytes("OPEN node-1/m-1 7\nearly\n".getBytes(StandardCharsets.US_ASCII));

    try (Socket socket = engine.accept()) {
      assertThat(FakeHub.line(socket.getInputStream())).isEqualTo("early");
    }
  }

  @Test
  void anUnknownWorkerIsRefusedWithTheReasonAndTheLaneReplaced() throws Exception {
    FakeHub.Lane lane = hub.nextWork();
    hub.nextWork();

    assertThat(lane.open("node-1/other-1", 7)).isEqualTo("REFUSED no launch 7 of node-1/other-1");
    assertThat(lane.hasEnded()).isTrue();
    hub.nextWork();
    assertThat(lanes.counts()).containsExactly(new LaneCount("node-1/other-1", 0, 0, 1, 0, 0));
  }

  @Test
  void anotherLaunchOfTheWorkerIsRefused() throws Exception {
    assertThat(hub.nextWork().open("node-1/m-1", 6)).isEqualTo("REFUSED no launch 6 of node-1/m-1");
  }

  @Test
  void anEngineThatDoesNotListenIsARefusal() throws Exception {
    engine.close();

    assertThat(hub.nextWork().open("node-1/m-1", 7))
        .startsWith("REFUSED the engine does not answer at port ");
  }

  @Test
  void anAddressInsteadOfAWorkerOpensNothing() throws Exception {
    FakeHub.Lane lane = hub.nextWork();
    lane.sendBytes("OPEN 127.0.0.1:22 1\n".getBytes(StandardCharsets.US_ASCII));

    assertThat(lane.hasEnded()).isTrue();
    assertThat(lanes.counts()).isEmpty();
    hub.nextWork();
    hub.nextWork();
  }

  @Test
  void bigBodiesPassBothWaysAtOnceByteForByte() throws Exception {
    byte[] question = new byte[24 << 20];
    byte[] answer = new byte[24 << 20];
    new Random(1).nextBytes(question);
    new Random(2).nextBytes(answer);
    FakeHub.Lane lane = hub.nextWork();
    assertThat(lane.open("node-1/m-1", 7)).isEqualTo("OPENED");

    try (Socket socket = engine.accept()) {
      CompletableFuture<byte[]> atEngine = reading(socket.getInputStream(), question.length);
      CompletableFuture<byte[]> atHub = reading(lane.in, answer.length);
      Thread.ofVirtual().start(() -> writing(socket, answer));
      lane.sendBytes(question);

      assertThat(atEngine.get(60, TimeUnit.SECONDS)).isEqualTo(question);
      assertThat(atHub.get(60, TimeUnit.SECONDS)).isEqualTo(answer);
    }
    await().until(() -> lanes.opened() == 0);
    assertThat(lanes.counts())
        .containsExactly(new LaneCount("node-1/m-1", 1, 1, 0, question.length, answer.length));
  }

  @Test
  void aHubThatCancelsIsFeltByTheEngineWhileItIsSilent() throws Exception {
    FakeHub.Lane lane = hub.nextWork();
    lane.open("node-1/m-1", 7);

    try (Socket socket = engine.accept()) {
      lane.close();
      assertThat(socket.getInputStream().read()).as("the engine's end").isEqualTo(-1);
    }
  }

  @Test
  void aHubThatCancelsIsFeltByAnEngineThatFloods() throws Exception {
    FakeHub.Lane lane = hub.nextWork();
    lane.open("node-1/m-1", 7);

    try (Socket socket = engine.accept()) {
      CompletableFuture<Boolean> stopped =
          CompletableFuture.supplyAsync(() -> {
            try {
              byte[] chunk = new byte[65536];
              while (true) {
                socket.getOutputStream().write(chunk);
              }
            } catch (IOException e) {
              return true;
            }
          });
      lane.in.readNBytes(1 << 20);
      lane.close();
      assertThat(stopped.get(20, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void anEnginesLastWordsArriveEvenIfItReadNothing() throws Exception {
    FakeHub.Lane lane = hub.nextWork();
    lane.open("node-1/m-1", 7);

    try (Socket socket = engine.accept()) {
      socket.getOutputStream().write("413 too large\n".getBytes(StandardCharsets.US_ASCII));
      socket.shutdownOutput();
      lane.sendBytes(new byte[100_000]);
      assertThat(FakeHub.line(lane.in)).isEqualTo("413 too large");
      assertThat(lane.hasEnded()).isTrue();
      lane.close();
    }
    await().until(() -> lanes.opened() == 0);
  }

  @Test
  void withTheControlLaneGoTheUnopenedLanesAndNoOthers() throws Exception {
    FakeHub.Lane open = hub.nextWork();
    open.open("node-1/m-1", 7);
    FakeHub.Lane idle = hub.nextWork();

    try (Socket socket = engine.accept()) {
      lanes.pause();
      assertThat(idle.hasEnded()).isTrue();
      assertThat(lanes.waiting()).isZero();
      socket.getOutputStream().write("still here\n".getBytes(StandardCharsets.US_ASCII));
      assertThat(FakeHub.line(open.in)).isEqualTo("still here");
    }
  }

  @Test
  void thereAreNeverMoreLanesThanTheHubAllows() throws Exception {
    List<FakeHub.Lane> opened = new ArrayList<>();
    lanes.wanted(100);
    await().until(() -> hub.work.size() == 6);
    for (int i = 0; i < 6; i++) {
      FakeHub.Lane lane = hub.nextWork();
      assertThat(lane.open("node-1/m-1", 7)).isEqualTo("OPENED");
      opened.add(lane);
    }
    lanes.wanted(100);
    assertThat(lanes.waiting()).isZero();
    assertThat(lanes.opened()).isEqualTo(6);

    opened.getFirst().close();
    hub.nextWork();
    assertThat(hub.work).isEmpty();
  }

  @Test
  void lanesThatTheHubDropsAreDialledAnew() throws Exception {
    hub.nextWork().close();
    hub.nextWork().close();

    hub.nextWork();
    hub.nextWork();
    assertThat(lanes.waiting()).isEqualTo(2);
  }

  private static CompletableFuture<byte[]> reading(InputStream in, int count) {
    CompletableFuture<byte[]> read = new CompletableFuture<>();
    Thread.ofVirtual()
        .start(() -> {
          try {
            read.complete(in.readNBytes(count));
          } catch (IOException e) {
            read.completeExceptionally(e);
          }
        });
    return read;
  }

  private static void writing(Socket socket, byte[] bytes) {
    try {
      socket.getOutputStream().write(bytes);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
