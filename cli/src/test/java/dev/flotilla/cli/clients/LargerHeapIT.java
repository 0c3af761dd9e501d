package dev.flotilla.cli.clients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.cli.fleet.FlotillaProcess;
import dev.flotilla.testkit.real.SmallModel;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A model that wants more heap than a JVM has that has not read its header yet. */
final class LargerHeapIT {
  private static final Duration START_LIMIT = Duration.ofMinutes(3);
  private static final Pattern API = Pattern.compile("http://127\\.0\\.0\\.1:\\d+/v1");

  @TempDir Path folder;

  @Test
  void theProcessBecomesItselfWithALargerHeapAndServes() throws Exception {
    try (FlotillaProcess process = serve(Map.of())) {
      await()
          .atMost(START_LIMIT)
          .until(() -> process.output().contains("ready after") || !process.isAlive());

      String output = process.output();
      assertThat(output)
          .containsOnlyOnce("the model wants a heap of ")
          .containsOnlyOnce("ready after");
      assertThat(commandLine(process.pid()))
          .as("of the process that was started")
          .contains("-Xmx192m", "-Dflotilla.heap.enlarged=true");
      Matcher api = API.matcher(output);
      assertThat(api.find()).as(output).isTrue();
      try (HttpClient client = HttpClient.newHttpClient()) {
        HttpRequest ask =
            HttpRequest.newBuilder(URI.create(api.group() + "/completions"))
                .POST(
                    HttpRequest.BodyPublishers.ofString(
                        """
                        {"model":"small","prompt":"Hi","max_tokens":1}
                        """
                            .replace("small", "small")))
                .build();
        assertThat(client.send(ask, BodyHandlers.ofString()).statusCode()).isEqualTo(200);
      }
    }
  }

  @Test
  void whereAPersonSaidHowLargeTheHeapIsTheySayItAnew() throws Exception {
    try (FlotillaProcess process = serve(Map.of("FLOTILLA_JAVA_OPTS", "-Xmx192m"))) {
      await().atMost(START_LIMIT).until(() -> !process.isAlive());
      assertThat(process.output())
          .contains("wants a heap of ", "FLOTILLA_JAVA_OPTS='-Xms")
          .doesNotContain("starting once more");
    }
  }

  private FlotillaProcess serve(Map<String, String> environment) {
    return FlotillaProcess.start(
        folder,
        environment,
        "serve",
        SmallModel.gguf().toString(),
        "--listen",
        "127.0.0.1:0",
        "--name",
        "small",
        "--context",
        "64",
        "--slots",
        "256",
        "--memory",
        "1G");
  }

  private static String commandLine(long pid) throws IOException {
    return Files.readString(Path.of("/proc", "" + pid, "cmdline")).replace('\0', ' ');
  }
}
