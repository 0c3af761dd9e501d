package dev.flotilla.engine.serve;

import static org.awaitility.Awaitility.await;

import dev.flotilla.engine.Engine;
import dev.flotilla.engine.schedule.ScheduleLimits;
import dev.flotilla.testkit.client.TestClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.Random;

/** A server of a {@link LetterModel}; when it closes no answer may be open and no block held. */
final class LetterServer implements AutoCloseable {
  static final int CONTEXT = 600;
  static final long STARTED = 1_790_000_000;

  final SpeakingRunner runner;
  final Engine engine;
  private final EngineServer server;

  private LetterServer(ServedModel model, String key, ServeLimits limits) {
    runner = new SpeakingRunner(model.tokenizer(), CONTEXT);
    engine = new Engine(runner, new ScheduleLimits(64, 4, 8), CONTEXT, System::nanoTime).start();
    ServeSettings settings =
        new ServeSettings(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            key,
            ServeSettings.Reasoning.REASONING_CONTENT,
            "studio",
            limits);
    Clock clock = Clock.fixed(Instant.ofEpochSecond(STARTED), ZoneOffset.UTC);
    try {
      server = new EngineServer(engine, model, settings, Map.of(), clock, new Random(1)).start();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  static LetterServer start(ServedModel model) {
    return start(model, "", ServeLimits.DEFAULT);
  }

  static LetterServer start(ServedModel model, String key, ServeLimits limits) {
    return new LetterServer(model, key, limits);
  }

  TestClient client() {
    return TestClient.connect(server.port());
  }

  /** Ends the server alone, as a signal does. */
  void stop() {
    server.close();
  }

  @Override
  public void close() {
    server.close();
    await().until(() -> engine.counts().running() + engine.counts().waiting() == 0);
    await().until(() -> engine.counts().blocksFree() == runner.kvBlocks());
    engine.close();
  }
}
