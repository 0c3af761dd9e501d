package dev.flotilla.cli.serve;

import dev.flotilla.cli.output.Failure;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.engine.model.KvType;
import dev.flotilla.engine.serve.ServeLimits;
import dev.flotilla.engine.serve.ServeSettings;
import dev.flotilla.engine.start.Budget;
import dev.flotilla.engine.start.RunningEngine;
import dev.flotilla.engine.start.StartOptions;
import dev.flotilla.engine.start.StartRefused;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/**
 * What the JVM watches when the build makes the built-in engine's AOT cache: the engine with a
 * model that is made on the spot, and some requests. Ends by itself.
 */
@Command(name = "train-engine", hidden = true, description = "Runs the engine for the AOT cache.")
public final class TrainEngine implements Callable<Integer> {
  private static final int ROUNDS = 6;

  /** Words of three tokens: from 512 tokens on, threads share the context of one answer. */
  private static final int LONG = 200;

  private static final int SHORT = 40;
  private static final long MEMORY_BYTES = 2L << 30;
  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(30);

  private final Shell shell;

  public TrainEngine(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    Path model = Files.createTempFile("flotilla-train", ".gguf");
    Logs.console(false);
    try {
      Files.write(model, TrainingModel.bytes());
      try (RunningEngine engine = RunningEngine.start(options(model), shell.err()::println)) {
        ask(engine.port());
      }
    } catch (StartRefused e) {
      throw new Failure("the training run failed: " + e.getMessage(), e);
    } finally {
      Logs.stop();
      Files.delete(model);
    }
    return 0;
  }

  private static StartOptions options(Path model) {
    return new StartOptions(
        model,
        "m",
        Optional.empty(),
        OptionalInt.of(1024),
        StartOptions.SLOTS_DEFAULT,
        OptionalInt.empty(),
        Budget.of(MEMORY_BYTES),
        KvType.F16,
        new ServeSettings(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            "",
            ServeSettings.Reasoning.REASONING_CONTENT,
            "",
            ServeLimits.DEFAULT),
        "training");
  }

  private static void ask(int port) throws IOException, InterruptedException {
    URI chats = URI.create("http://127.0.0.1:" + port + "/v1/chat/completions");
    try (HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      for (int round = 0; round < ROUNDS; round++) {
        String body =
            "{\"messages\":[{\"role\":\"user\",\"content\":\"Say hi to each of %s\"}],\"max_tokens\":40,\"stream\":%s}"
                .formatted("them ".repeat(round == 0 ? LONG : SHORT), round % 2 == 0);
        HttpRequest request =
            HttpRequest.newBuilder(chats)
                .timeout(ANSWER_LIMIT)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(body))
                .build();
        int status = http.send(request, BodyHandlers.ofByteArray()).statusCode();
        if (status != 200) {
          throw new Failure("the engine answered " + status + " in the training");
        }
      }
    }
  }
}
