package dev.flotilla.cli.fleet;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.net.http.HttpResponse.ResponseInfo;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.function.Supplier;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** A plain HTTP client of a hub: what curl would see. */
final class Client {
  private final URI hub;
  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(5))
          .build();

  Client(String hub) {
    this.hub = URI.create(hub);
  }

  /** How one stream went. */
  record Streamed(int status, List<String> events, String worker) {
    boolean isWhole() {
      return !events.isEmpty() && events.getLast().equals("[DONE]") && !failed();
    }

    boolean failed() {
      return events.stream().anyMatch(event -> event.startsWith("{\"error\""));
    }
  }

  JsonNode get(String path) throws IOException, InterruptedException {
    HttpResponse<byte[]> response =
        http.send(
            HttpRequest.newBuilder(hub.resolve(path)).timeout(Duration.ofSeconds(20)).build(),
            BodyHandlers.ofByteArray());
    return JsonMapper.shared().readTree(response.body());
  }

  int status(String path) throws InterruptedException {
    try {
      return http.send(
              HttpRequest.newBuilder(hub.resolve(path)).timeout(Duration.ofSeconds(5)).build(),
              BodyHandlers.discarding())
          .statusCode();
    } catch (IOException e) {
      return 0;
    }
  }

  /** A chat that is answered in one piece. */
  HttpResponse<String> chat(String model, String text, int tokens)
      throws IOException, InterruptedException {
    return http.send(
        chatRequest(model, text, tokens, false), BodyHandlers.ofString(StandardCharsets.UTF_8));
  }

  private HttpRequest chatRequest(String model, String text, int tokens, boolean stream) {
    return request(body(model, text, tokens).put("stream", stream));
  }

  private static ObjectNode body(String model, String text, int tokens) {
    ObjectNode body =
        JsonMapper.shared().createObjectNode().put("model", model).put("max_tokens", tokens);
    body.putArray("messages").addObject().put("role", "user").put("content", text);
    return body;
  }

  private HttpRequest request(ObjectNode body) {
    return request("/v1/chat/completions", body);
  }

  /** The vector of a text. */
  HttpResponse<String> vector(String model, String text) throws IOException, InterruptedException {
    ObjectNode body = JsonMapper.shared().createObjectNode().put("model", model).put("input", text);
    return http.send(
        request("/v1/embeddings", body), BodyHandlers.ofString(StandardCharsets.UTF_8));
  }

  private HttpRequest request(String path, ObjectNode body) {
    return HttpRequest.newBuilder(hub.resolve(path))
        .POST(BodyPublishers.ofString(body.toString()))
        .timeout(Duration.ofMinutes(3))
        .build();
  }

  /** A chat as a stream, until its end or its break. */
  Streamed stream(String model, String text, int tokens, Runnable atFirstEvent) {
    return stream(chatRequest(model, text, tokens, true), atFirstEvent);
  }

  /** A stream of exactly so many tokens, wherever the model would have ended. */
  CompletableFuture<Streamed> longStream(
      String model, String text, int tokens, Runnable atFirstEvent) {
    HttpRequest request =
        request(body(model, text, tokens).put("stream", true).put("ignore_eos", true));
    return begin(() -> stream(request, atFirstEvent));
  }

  private Streamed stream(HttpRequest request, Runnable atFirstEvent) {
    Events heard = new Events(atFirstEvent);
    try {
      http.send(request, heard);
    } catch (IOException e) {
      // Broken off: the events so far tell how far it came.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return heard.all();
  }

  /**
   * Hears a stream line by line, as its bytes come: an input stream of this client drops what
   * nobody has read yet when the reply breaks off, and with it the event that says so.
   */
  private static final class Events implements BodyHandler<Void>, Flow.Subscriber<String> {
    private final Runnable atFirst;
    private final List<String> events = new ArrayList<>();
    private int status;
    private String worker = "";

    Events(Runnable atFirst) {
      this.atFirst = atFirst;
    }

    @Override
    public BodySubscriber<Void> apply(ResponseInfo head) {
      synchronized (this) {
        status = head.statusCode();
        worker = head.headers().firstValue("x-flotilla-worker").orElse("");
      }
      return BodySubscribers.fromLineSubscriber(this, _ -> null, StandardCharsets.UTF_8, null);
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(String line) {
      if (!line.startsWith("data:")) {
        return;
      }
      boolean first;
      synchronized (this) {
        first = events.isEmpty();
        events.add(line.substring("data:".length()).strip());
      }
      if (first) {
        atFirst.run();
      }
    }

    @Override
    public void onError(Throwable brokenOff) {
      // What was heard tells how far it came; the sender gets the exception.
    }

    @Override
    public void onComplete() {
      // The last event tells whether it is whole.
    }

    synchronized Streamed all() {
      return new Streamed(status, List.copyOf(events), worker);
    }
  }

  /** So many streams at once. */
  List<CompletableFuture<Streamed>> streams(
      int count, String model, String text, int tokens, Runnable atFirstEvent) {
    List<CompletableFuture<Streamed>> streams = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      String each = text + " (" + i + ")";
      streams.add(begin(() -> stream(model, each, tokens, atFirstEvent)));
    }
    return streams;
  }

  private static CompletableFuture<Streamed> begin(Supplier<Streamed> stream) {
    return CompletableFuture.supplyAsync(stream, task -> Thread.ofVirtual().start(task));
  }
}
