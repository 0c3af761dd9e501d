package dev.flotilla.testkit.scripted;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.flotilla.wire.http.HttpHeaders;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A request as it arrived at a {@link ScriptedEngine}, and what became of it. */
public final class ReceivedRequest {
  static final JsonMapper JSON = JsonMapper.builder().build();

  private final String method;
  private final String path;
  private final HttpHeaders headers;
  private final byte[] body;
  private final CompletableFuture<Instant> gone = new CompletableFuture<>();
  private final CompletableFuture<Instant> ended = new CompletableFuture<>();
  private volatile boolean answered;

  /** Moments of the engine: when it arrived, and just before its client had the whole answer. */
  private volatile int arrived;

  private final AtomicInteger told = new AtomicInteger();
  private volatile IntSupplier moments = () -> 0;
  private final AtomicInteger chunksSent = new AtomicInteger();

  ReceivedRequest(String method, String path, HttpHeaders headers, byte[] body) {
    this.method = method;
    this.path = path;
    this.headers = headers;
    this.body = body;
  }

  public String method() {
    return method;
  }

  /** The request's target, query included. */
  public String path() {
    return path;
  }

  public HttpHeaders headers() {
    return headers;
  }

  public byte[] body() {
    return body.clone();
  }

  public String bodyText() {
    return new String(body, UTF_8);
  }

  /** The body as JSON; a missing node where it is none. */
  public JsonNode json() {
    try {
      return JSON.readTree(body);
    } catch (JacksonException _) {
      return JSON.missingNode();
    }
  }

  /** When the client closed the connection, if it did so before its reply was whole. */
  public Optional<Instant> goneAt() {
    return Optional.ofNullable(gone.getNow(null));
  }

  /** Whether the script is over, by its own end or because the client went. */
  public boolean ended() {
    return ended.isDone();
  }

  /**
   * Whether it arrived when the other's client had its whole answer, or was about to: up to {@code
   * [DONE]}, or to the last byte. The engine may have been busy with the other still, closing its
   * connection.
   */
  public boolean arrivedAfterTheAnswerTo(ReceivedRequest other) {
    int end = other.told.get();
    return end > 0 && end < arrived;
  }

  /** Events of the reply that were written so far. */
  public int chunksSent() {
    return chunksSent.get();
  }

  /**
   * Waits until the client has gone away.
   *
   * @throws AssertionError if it does not within that time
   */
  public void awaitGone(Duration within) {
    await(gone, within, "the client did not go away");
  }

  void arrive(IntSupplier clock) {
    moments = clock;
    arrived = clock.getAsInt();
  }

  /** What comes next tells the client that its answer is whole. */
  void tellsTheEnd() {
    told.compareAndSet(0, moments.getAsInt());
  }

  void chunkSent() {
    chunksSent.incrementAndGet();
  }

  /** From now on the client may close the connection: it has, or is about to have, the whole. */
  void lastBytes() {
    tellsTheEnd();
    answered = true;
  }

  void clientGone() {
    if (!answered && !ended.isDone()) {
      gone.complete(Instant.now());
    }
  }

  void end() {
    ended.complete(Instant.now());
  }

  private static void await(CompletableFuture<Instant> future, Duration within, String otherwise) {
    try {
      future.get(within.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException | ExecutionException e) {
      throw new AssertionError(otherwise + " within " + within, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted", e);
    }
  }

  @Override
  public String toString() {
    return method + " " + path + " " + bodyText();
  }
}
