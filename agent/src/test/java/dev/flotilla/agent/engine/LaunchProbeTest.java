package dev.flotilla.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.agent.engine.EngineAdapter.Launch;
import dev.flotilla.agent.engine.EngineAdapter.Readiness;
import dev.flotilla.testkit.scripted.Script;
import dev.flotilla.testkit.scripted.ScriptedEngine;
import dev.flotilla.wire.fleet.WorkerSpec;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LaunchProbeTest {
  private final Launch launch = new Launch("our-key", Path.of("run"), 5);
  private final ScriptedEngine server =
      ScriptedEngine.start().model("small").apiKey("our-key").contextTokens(4096).slots(4);

  @AfterEach
  void stop() {
    server.close();
  }

  @Test
  void ourLaunchIsReady() {
    assertThat(probe()).isEqualTo(new Readiness.Ready("b1-scripted", 4096, 4));
  }

  @Test
  void aServerThatLoadsIsNotReadyYet() {
    server.loading(true);
    assertThat(probe()).isEqualTo(new Readiness.NotYet("loading the model"));
  }

  @Test
  void nobodyListensYet() {
    int port = server.port();
    server.close();
    assertThat(LaunchProbe.probe(spec(4096, 4), port, launch))
        .isEqualTo(new Readiness.NotYet("nothing listens on port " + port + " yet"));
  }

  @Test
  void aServerWithAnotherKeyIsNotOurs() {
    server.apiKey("their-key");
    stranger(
        "Something else answers on port " + server.port() + ": it does not know this launch's key");
  }

  @Test
  void aServerThatTakesEveryKeyIsNotOurs() {
    server.apiKey("");
    stranger("it asks for no key");
  }

  @Test
  void aServerWithTheTagsOfAnotherLaunchIsNotOurs() {
    server.always(
        "/v1/models",
        Script.json(200, "{\"data\":[{\"id\":\"small\",\"tags\":[\"run-4-other\"]}]}"));
    stranger("it has the tags of another launch");
    server.always(
        "/v1/models",
        Script.json(
            200,
            "{\"data\":[{\"id\":\"small\",\"tags\":[\"%s\"]}]}"
                .formatted(LaunchProbe.tag(launch))));
    assertThat(probe()).isInstanceOf(Readiness.Ready.class);
  }

  @Test
  void anotherNameIsNotOurs() {
    server.model("large");
    stranger("it serves the name 'large', not 'small'");
  }

  @Test
  void whatIsNotAsPromisedIsNotReady() {
    server.contextTokens(2048);
    unfit("The engine gives 2,048 tokens to a request, promise.context is 4,096.");
    server.contextTokens(4096).slots(1);
    unfit("The engine has 1 slot, asked for: 4.");
  }

  @Test
  void whatIsNoLlamaServerIsNotOurs() {
    server.always("/health", Script.notFound());
    stranger("GET /health gave 404");
  }

  @Test
  void anAnswerThatIsNoJsonIsNotReadyYet() {
    server.always("/v1/models", Script.json(200, "{\"data\":["));
    assertThat(probe()).isInstanceOf(Readiness.NotYet.class);
  }

  private Readiness probe() {
    return LaunchProbe.probe(spec(4096, 4), server.port(), launch);
  }

  private void stranger(String why) {
    assertThat(probe())
        .isInstanceOfSatisfying(
            Readiness.Stranger.class, stranger -> assertThat(stranger.why()).contains(why));
  }

  private void unfit(String why) {
    assertThat(probe())
        .isInstanceOfSatisfying(
            Readiness.Wrong.class, wrong -> assertThat(wrong.why()).contains(why));
  }

  private static WorkerSpec spec(int context, int slots) {
    return new WorkerSpec(
        "node/small-1",
        "small",
        "llama-server",
        "m.gguf",
        context,
        slots,
        WorkerSpec.Reasoning.INLINE,
        false,
        false,
        Map.of());
  }
}
