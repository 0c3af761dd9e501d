package dev.flotilla.cli.command;

import dev.flotilla.cli.client.HubClient;
import dev.flotilla.cli.client.HubOptions;
import dev.flotilla.cli.output.Failure;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.cli.output.Style;
import dev.flotilla.cli.output.WholeNumber;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** {@code flotilla chat}: one prompt through any OpenAI-compatible server, streamed. */
@Command(
    name = "chat",
    description = "Sends one prompt, prints the answer as it comes, then the token counts.",
    footer = {
      "%nExamples:",
      "  flotilla chat \"Say hi\"",
      "  flotilla chat --model smollm2-135m \"Say hi\"",
      "  flotilla chat --url http://10.0.0.5:8080/v1 \"Say hi\"   any OpenAI-compatible server",
      "  git diff | flotilla chat -                             the prompt from standard input",
    })
public final class Chat implements Callable<Integer> {
  private static final int PROMPT_BYTES_MAX = 8 << 20;
  private static final int EVENT_CHARACTERS_MAX = 16 << 20;

  private final Shell shell;

  @Mixin private final HubOptions hub = new HubOptions();

  @Parameters(paramLabel = "PROMPT", description = "What to say; '-' reads standard input.")
  private String prompt = "";

  @Option(
      names = "--url",
      paramLabel = "URL",
      description = "An OpenAI-compatible server, in place of the hub; with or without /v1.")
  private @Nullable String url;

  @Option(
      names = "--model",
      paramLabel = "NAME",
      description = "The model's name (default: the first that the server lists).")
  private @Nullable String model;

  @Option(
      names = "--system",
      paramLabel = "TEXT",
      description = "A system message before the prompt.")
  private @Nullable String system;

  @Option(
      names = "--max-tokens",
      paramLabel = "N",
      converter = MaxTokens.class,
      description = "Ends the answer after so many tokens.")
  private @Nullable Integer maxTokens;

  public Chat(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() {
    HubClient client = url == null ? hub.client(shell) : serverAt(url);
    String name = model != null ? model : firstModel(client);
    ObjectNode request = request(name, readPrompt());
    long begun = System.nanoTime();
    HttpResponse<InputStream> response = client.stream("/v1/chat/completions", request);
    // Text that came together with the head is there before the first read: it came by now.
    Answer answer = new Answer(begun, System.nanoTime());
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
      while (!answer.done) {
        boolean buffered = lines.ready();
        String line = lines.readLine();
        if (line == null) {
          break;
        }
        if (!buffered) {
          answer.arrived = System.nanoTime();
        }
        if (line.length() > EVENT_CHARACTERS_MAX) {
          throw new Failure("the server sent an event of " + line.length() + " characters");
        }
        if (line.startsWith("data:")) {
          event(line.substring("data:".length()).strip(), answer);
        }
      }
    } catch (IOException e) {
      shell.out().println();
      throw new Failure("the answer broke off: " + e.getMessage(), e);
    }
    shell.out().println();
    shell.out().flush();
    if (!answer.done) {
      throw new Failure("the answer ended before its end was said: it may be cut");
    }
    String worker = response.headers().firstValue("x-flotilla-worker").orElse("");
    shell.err().println(Style.DIM.apply(answer.summary(name, worker), shell.errColours()));
    return 0;
  }

  private HubClient serverAt(String address) {
    String text = HubOptions.httpAddress(address, "--url").toString();
    URI base = URI.create(text.endsWith("/v1") ? text.substring(0, text.length() - 3) : text);
    return new HubClient(base, hub.key(shell), hub.ca(), "--url");
  }

  private static String firstModel(HubClient client) {
    JsonNode models = client.get("/v1/models").path("data");
    if (models.isEmpty()) {
      throw new Failure(client.address() + " lists no models; name one with --model");
    }
    return models.get(0).path("id").asString("");
  }

  private ObjectNode request(String name, String text) {
    ObjectNode body = JsonMapper.shared().createObjectNode().put("model", name).put("stream", true);
    body.putObject("stream_options").put("include_usage", true);
    var messages = body.putArray("messages");
    if (system != null) {
      messages.addObject().put("role", "system").put("content", system);
    }
    messages.addObject().put("role", "user").put("content", text);
    if (maxTokens != null) {
      body.put("max_tokens", maxTokens);
    }
    return body;
  }

  private String readPrompt() {
    if (!prompt.equals("-")) {
      return prompt;
    }
    try {
      byte[] text = shell.in().readNBytes(PROMPT_BYTES_MAX + 1);
      if (text.length > PROMPT_BYTES_MAX) {
        throw new Failure("the prompt on standard input is larger than 8 MiB");
      }
      return new String(text, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new Failure("can't read standard input: " + e.getMessage(), e);
    }
  }

  private void event(String data, Answer answer) {
    if (data.equals("[DONE]")) {
      answer.done = true;
      return;
    }
    JsonNode event;
    try {
      event = JsonMapper.shared().readTree(data);
    } catch (JacksonException e) {
      throw new Failure("the server sent an event that is no JSON", e);
    }
    if (event.has("error")) {
      shell.out().println();
      shell.out().flush();
      throw new Failure(
          "the answer was cut: " + event.path("error").path("message").asString("no reason given"));
    }
    JsonNode delta = event.path("choices").path(0).path("delta");
    String thought = delta.path("reasoning_content").asString(delta.path("reasoning").asString(""));
    String content = delta.path("content").asString("");
    if (!thought.isEmpty() || !content.isEmpty()) {
      answer.heard();
    }
    shell.out().print(Style.DIM.apply(thought, shell.colours() && !thought.isEmpty()));
    shell.out().print(content);
    shell.out().flush();
    if (event.path("usage").isObject()) {
      answer.promptTokens = event.path("usage").path("prompt_tokens").asInt(-1);
      answer.answerTokens = event.path("usage").path("completion_tokens").asInt(-1);
    }
  }

  /** At least one token. */
  static final class MaxTokens extends WholeNumber {
    MaxTokens() {
      super(1, Integer.MAX_VALUE);
    }
  }

  /** What is counted of one answer. */
  private static final class Answer {
    /** A reply that came at once says nothing of how fast it was written. */
    private static final long SPEED_NANOS_MIN = 20_000_000;

    private final long begun;
    private long first;
    private long last;
    private long arrived;
    private int piecesAtFirst;
    private int promptTokens = -1;
    private int answerTokens = -1;
    private boolean done;

    /**
     * @param begun when it was asked for
     * @param head when the head of its reply had come
     */
    private Answer(long begun, long head) {
      this.begun = begun;
      this.arrived = head;
    }

    /** A piece of text was read: what lay in the same read came when that read did. */
    private void heard() {
      last = arrived;
      if (first == 0) {
        first = last;
      }
      if (last == first) {
        piecesAtFirst++;
      }
    }

    private String summary(String name, String worker) {
      StringBuilder line = new StringBuilder("[").append(name);
      if (!worker.isEmpty()) {
        line.append(" on ").append(worker);
      }
      if (answerTokens >= 0) {
        line.append(": ").append(promptTokens).append(" prompt + ").append(answerTokens);
        line.append(" answer tokens");
      } else {
        line.append(": the server did not count tokens");
      }
      if (first != 0) {
        line.append(String.format(Locale.ROOT, ", first after %.2f s", (first - begun) / 1e9));
        int after = answerTokens - piecesAtFirst;
        if (after > 0 && last - first >= SPEED_NANOS_MIN) {
          line.append(String.format(Locale.ROOT, ", %.1f tok/s", after / ((last - first) / 1e9)));
        }
      }
      return line.append(']').toString();
    }
  }
}
