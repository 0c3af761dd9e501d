package dev.flotilla.testkit.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.flotilla.testkit.scripted.Answer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * A busy time for one OpenAI server: some clients that ask one thing after another, short and long
 * prompts, answers with a schema, answers with a seed, clients that leave in the middle, and now
 * and then a burst of many requests at once. What each got is held to what it should have got.
 *
 * <p>An answer is right, or the request is refused as too much (503). Everything else is told as
 * {@linkplain Outcome#wrong wrong}: another status, a stream without an end, JSON that is none,
 * another answer to the same prompt with the same seed.
 */
public final class MixedLoad {
  private static final int BURST = 24;
  private static final int PROMPTS = 6;
  private static final int SEEDS = 4;
  private static final int WRONG_TOLD_MAX = 20;
  private static final Duration ANSWER_LIMIT = Duration.ofMinutes(5);
  private static final JsonMapper JSON = new JsonMapper();

  private static final String SCHEMA =
      """
      {"type":"json_schema","json_schema":{"name":"city","schema":{"type":"object","properties":
      {"name":{"type":"string","maxLength":20},"size":{"enum":["small","large"]},
      "founded":{"type":"integer","minimum":0,"maximum":2026}},
      "required":["name","size","founded"],"additionalProperties":false}}}
      """;

  private final URI url;
  private final String model;
  private final int longest;
  private final Runnable afterEach;
  private final AtomicInteger answered = new AtomicInteger();
  private final AtomicInteger refused = new AtomicInteger();
  private final AtomicInteger left = new AtomicInteger();
  private final AtomicInteger seeded = new AtomicInteger();
  private final ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();

  /** The first answer to each prompt with each seed. */
  private final Map<String, String> firstAnswers = new ConcurrentHashMap<>();

  /**
   * What became of the requests.
   *
   * @param answered whole, and as they should
   * @param refused as too much
   * @param left by their client on purpose
   * @param seeded answers that were held against an earlier one with the same seed
   * @param wrong what else happened, in words, the first of them
   */
  public record Outcome(int answered, int refused, int left, int seeded, List<String> wrong) {}

  /**
   * Load for a server on this machine.
   *
   * @param model the name that requests carry
   * @param longest numbers in the longest prompts, of up to four tokens each
   * @param afterEach is done by each client after each of its requests
   */
  public MixedLoad(int port, String model, int longest, Runnable afterEach) {
    url = URI.create("http://127.0.0.1:" + port + "/v1/chat/completions");
    this.model = model;
    this.longest = longest;
    this.afterEach = afterEach;
  }

  /**
   * Asks until the time is over, and returns when all is answered.
   *
   * @param least what each client asks in any case, however slow the machine
   * @param clients that ask one thing after another
   * @param seed of all that is drawn by lot
   */
  public Outcome run(Duration time, int least, int clients, long seed) {
    long end = System.nanoTime() + time.toNanos();
    try (HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < clients; i++) {
        Random random = new Random(seed * clients + i);
        threads.execute(() -> {
          for (int asked = 0; asked < least || System.nanoTime() - end < 0; asked++) {
            anything(http, random);
            afterEach.run();
          }
        });
      }
    }
    return new Outcome(
        answered.get(),
        refused.get(),
        left.get(),
        seeded.get(),
        wrong.stream().limit(WRONG_TOLD_MAX).toList());
  }

  private void anything(HttpClient http, Random random) {
    int lot = random.nextInt(100);
    try {
      if (lot < 30) {
        ask(http, request("Name a river.", 8 + random.nextInt(24)), random.nextBoolean());
      } else if (lot < 45) {
        ask(http, request(longText(random), 12), random.nextBoolean());
      } else if (lot < 60) {
        schema(http, random);
      } else if (lot < 82) {
        seeded(http, random);
      } else if (lot < 97) {
        leave(http, random);
      } else {
        burst(http, random);
      }
    } catch (IOException broken) {
      wrong.add("a connection broke: " + broken);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  private ObjectNode request(String text, int maxTokens) {
    ObjectNode request = JSON.createObjectNode().put("model", model).put("max_tokens", maxTokens);
    request.putArray("messages").addObject().put("role", "user").put("content", text);
    return request;
  }

  /** Long prompts have one of a few beginnings in common. */
  private String longText(Random random) {
    Random words = new Random(random.nextInt(PROMPTS));
    int count = longest / 4 + random.nextInt(longest * 3 / 4);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < count; i++) {
      text.append(i == count / 2 ? random.nextInt(1000) : words.nextInt(100)).append(' ');
    }
    return text.append("\nWhich number came first?").toString();
  }

  private void schema(HttpClient http, Random random) throws IOException, InterruptedException {
    ObjectNode request = request("Describe a city as JSON.", 80);
    request.set("response_format", JSON.readTree(SCHEMA));
    Answer answer = ask(http, request, random.nextBoolean());
    if (answer.whole() && answer.finish().equals("stop")) {
      try {
        JsonNode city = JSON.readTree(answer.text());
        if (!city.path("name").isString() || !city.path("founded").isIntegralNumber()) {
          wrong.add("an answer that is not of its schema: " + answer.text());
        }
      } catch (JacksonException none) {
        wrong.add("an answer that is no JSON: " + answer.text());
      }
    }
  }

  private void seeded(HttpClient http, Random random) throws IOException, InterruptedException {
    int prompt = random.nextInt(PROMPTS);
    int seed = random.nextInt(SEEDS);
    ObjectNode request = request("Tell me something about the number " + prompt + ".", 24);
    request.put("seed", seed).put("temperature", 1.2);
    Answer answer = ask(http, request, random.nextBoolean());
    if (answer.whole()) {
      String first = firstAnswers.putIfAbsent(prompt + " " + seed, answer.text());
      if (first != null) {
        seeded.incrementAndGet();
        if (!first.equals(answer.text())) {
          wrong.add(
              "prompt %d, seed %d: once '%s', once '%s'"
                  .formatted(prompt, seed, first, answer.text()));
        }
      }
    }
  }

  /** Goes away before the first byte, or after a few events. */
  private void leave(HttpClient http, Random random) throws IOException, InterruptedException {
    boolean early = random.nextBoolean();
    ObjectNode request = request(early ? longText(random) : "Count to a hundred.", 200);
    HttpResponse<InputStream> reply =
        http.send(post(request.put("stream", true)), HttpResponse.BodyHandlers.ofInputStream());
    try (BufferedReader lines = reader(reply)) {
      for (int i = early ? 0 : random.nextInt(20); i > 0 && lines.readLine() != null; i--) {}
    }
    left.incrementAndGet();
  }

  private void burst(HttpClient http, Random random) {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < BURST; i++) {
        Random own = new Random(random.nextLong());
        threads.execute(() -> {
          try {
            seeded(http, own);
          } catch (IOException broken) {
            wrong.add("a connection broke in a burst: " + broken);
          } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
          }
        });
      }
    }
  }

  private record Answer(boolean whole, String text, String finish) {
    static final Answer NONE = new Answer(false, "", "");
  }

  private Answer ask(HttpClient http, ObjectNode request, boolean stream)
      throws IOException, InterruptedException {
    HttpResponse<InputStream> reply =
        http.send(post(request.put("stream", stream)), HttpResponse.BodyHandlers.ofInputStream());
    try (BufferedReader lines = reader(reply)) {
      if (reply.statusCode() == 503) {
        refused.incrementAndGet();
        return Answer.NONE;
      }
      if (reply.statusCode() != 200) {
        wrong.add(reply.statusCode() + ": " + lines.readLine());
        return Answer.NONE;
      }
      Answer answer = stream ? events(lines) : whole(JSON.readTree(lines.readLine()));
      if (answer.whole()) {
        answered.incrementAndGet();
      } else {
        wrong.add("an answer without an end: " + answer.text());
      }
      return answer;
    }
  }

  private static BufferedReader reader(HttpResponse<InputStream> reply) {
    return new BufferedReader(new InputStreamReader(reply.body(), UTF_8));
  }

  private static Answer whole(JsonNode reply) {
    JsonNode choice = reply.path("choices").path(0);
    return new Answer(
        !choice.path("finish_reason").isNull(),
        choice.path("message").path("content").asString(""),
        choice.path("finish_reason").asString(""));
  }

  private static Answer events(BufferedReader lines) throws IOException {
    StringBuilder text = new StringBuilder();
    String finish = "";
    for (String line; (line = lines.readLine()) != null; ) {
      if (line.equals("data: [DONE]")) {
        return new Answer(true, text.toString(), finish);
      }
      if (line.startsWith("data: {")) {
        JsonNode choice = JSON.readTree(line.substring(6)).path("choices").path(0);
        text.append(choice.path("delta").path("content").asString(""));
        finish = choice.path("finish_reason").asString(finish);
      }
    }
    return new Answer(false, text.toString(), finish);
  }

  private HttpRequest post(ObjectNode request) {
    return HttpRequest.newBuilder(url)
        .timeout(ANSWER_LIMIT)
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(request.toString()))
        .build();
  }
}
