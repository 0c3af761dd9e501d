package dev.flotilla.engine.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.testkit.client.TestClient;
import dev.flotilla.testkit.client.TestClient.Reply;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What clients see when the server is stopped. */
class StopTest {
  private static final String CHATS = "/v1/chat/completions";
  private static final String HELLO =
      "\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}],\"temperature\":0";

  private static final Duration LAST_WORDS = Duration.ofMillis(500);

  @TempDir private Path folder;
  private LetterServer server;
  private Thread stop = new Thread();

  @BeforeEach
  void serve() {
    serve(Duration.ofMillis(100));
  }

  private void serveWithTime() {
    server.close();
    serve(TestClient.WAIT_MAX);
  }

  private void serve(Duration stopTime) {
    ServeLimits limits =
        ServeLimits.of(ServeLimits.DEFAULT.server().withStop(stopTime, LAST_WORDS));
    server = LetterServer.start(LetterModel.served(folder), "", limits);
    server.runner.says("one two three");
    server.runner.stepwise();
  }

  private void stop() {
    stop = Thread.ofVirtual().start(server::stop);
  }

  @AfterEach
  void end() throws InterruptedException {
    server.runner.step(10_000);
    stop.join();
    server.close();
  }

  @Test
  void whatStillRunsAtItsEndIsToldSoInTheStream() throws InterruptedException {
    try (TestClient client = server.client()) {
      client.post(CHATS, "{" + HELLO + ",\"stream\":true}");
      server.runner.step(5);
      assertThat(client.replyHead().status()).isEqualTo(200);
      assertThat(client.event()).contains("\"role\":\"assistant\"");
      stop();
      String rest = client.untilClosed();
      assertThat(rest)
          .contains("data: {\"error\":{\"message\":\"the answer is incomplete: ")
          .contains("\"code\":\"stream_cut\"")
          .doesNotContain("[DONE]")
          .doesNotContain("finish_reason\":\"");
    }
    assertThat(stop.join(TestClient.WAIT_MAX)).as("the engine itself stands still").isTrue();
  }

  @Test
  void anAnswerThatWasToComeWholeIsRefused() {
    try (TestClient client = server.client()) {
      client.post(CHATS, "{" + HELLO + "}");
      server.runner.step(5);
      await().until(() -> server.engine.counts().running() == 1);
      stop();
      Reply reply = client.reply();
      assertThat(reply.status()).isEqualTo(503);
      assertThat(reply.body()).contains("engine_stopping");
      assertThat(reply.header("retry-after")).isNotBlank();
    }
  }

  @Test
  void whatRunsMayEndAndNothingNewBegins() {
    serveWithTime();
    try (TestClient client = server.client();
        TestClient other = server.client()) {
      assertThat(other.get("/health").reply().status()).isEqualTo(200);
      client.post(CHATS, "{" + HELLO + ",\"stream\":true}");
      server.runner.step(5);
      assertThat(client.replyHead().status()).isEqualTo(200);
      stop();
      await().until(this::isRefused);
      Reply refused = other.post(CHATS, "{" + HELLO + "}").reply();
      assertThat(refused.status()).as("on a connection that was there").isEqualTo(503);
      assertThat(refused.header("retry-after")).isNotBlank();
      assertThat(refused.header("connection")).isEqualTo("close");
      server.runner.step(10_000);
      assertThat(client.untilClosed()).contains("\"finish_reason\":\"stop\"", "data: [DONE]");
    }
  }

  private boolean isRefused() {
    try (TestClient client = server.client()) {
      return client.get("/health").reply().status() == 503;
    }
  }

  @Test
  void withoutRequestsItIsAtOnceEvenWhereClientsKeepConnections() throws InterruptedException {
    serveWithTime();
    server.runner.step(10_000);
    try (TestClient client = server.client()) {
      assertThat(client.post(CHATS, "{" + HELLO + "}").reply().status()).isEqualTo(200);
      stop();
      assertThat(client.untilClosed()).isEmpty();
    }
    assertThat(stop.join(LAST_WORDS.multipliedBy(10))).isTrue();
  }
}
