package dev.flotilla.cli.client;

import dev.flotilla.agent.lanes.TlsTrouble;
import dev.flotilla.cli.output.Failure;
import java.io.BufferedReader;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import javax.net.ssl.SSLException;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Asks a hub, and turns whatever goes wrong into one line: nothing there, a wrong certificate, a
 * missing key, a refusal with its own message.
 */
public final class HubClient {
  private static final Duration CONNECT_LIMIT = Duration.ofSeconds(5);
  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(60);
  private static final Duration UPLOAD_LIMIT = Duration.ofMinutes(30);
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private final URI hub;
  private final String option;
  private final Optional<String> key;
  private final HttpClient http;

  public HubClient(URI hub, Optional<String> key, Optional<Path> ca) {
    this(hub, key, ca, "--hub");
  }

  /**
   * @param option what names the address on the command line, for what is advised
   */
  public HubClient(URI hub, Optional<String> key, Optional<Path> ca, String option) {
    this.hub = hub;
    this.option = option;
    this.key = key;
    // HTTP/1.1: the default sends an upgrade to HTTP/2 with each request, which some servers choke
    // on.
    HttpClient.Builder builder =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(CONNECT_LIMIT);
    ca.map(PrivateAuthority::trusting).ifPresent(builder::sslContext);
    this.http = builder.build();
  }

  /** A text as it stands in a path or a query. */
  public static String encoded(String text) {
    // The space of a form, which in a path is a plus.
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  /** The address that is asked. */
  public URI address() {
    return hub;
  }

  public JsonNode get(String path) {
    return answer(request(path).GET().timeout(ANSWER_LIMIT).build());
  }

  /** Takes an answer of one JSON object a line as it comes; a line that holds an error ends it. */
  public void lines(String path, Consumer<String> taker) {
    HttpResponse<InputStream> response = send(request(path).GET().timeout(ANSWER_LIMIT).build());
    try (BufferedReader in =
        new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
      if (response.statusCode() / 100 != 2) {
        throw refusal(response.statusCode(), response.body().readNBytes(1 << 20));
      }
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.startsWith("{\"error\"")) {
          throw refusal(response.statusCode(), line.getBytes(StandardCharsets.UTF_8));
        }
        taker.accept(line);
      }
    } catch (IOException e) {
      throw new Failure(hub + " broke off its answer: " + e.getMessage(), e);
    }
  }

  public JsonNode delete(String path) {
    return answer(request(path).DELETE().timeout(ANSWER_LIMIT).build());
  }

  /** Posts a document of {@code mediaType} and reads the answer whole. */
  public JsonNode post(String path, String mediaType, byte[] body) {
    return answer(
        request(path)
            .header("Content-Type", mediaType)
            .POST(BodyPublishers.ofByteArray(body))
            .timeout(ANSWER_LIMIT)
            .build());
  }

  /** Posts a file, which may take a while. */
  public JsonNode upload(String path, String mediaType, Path file) {
    try {
      return answer(
          request(path)
              .header("Content-Type", mediaType)
              .POST(BodyPublishers.ofFile(file))
              .timeout(UPLOAD_LIMIT)
              .build());
    } catch (FileNotFoundException e) {
      throw new Failure("there is no file " + file, e);
    }
  }

  public JsonNode post(String path, JsonNode body) {
    return post(path, "application/json", MAPPER.writeValueAsBytes(body));
  }

  /** Posts a document and hands back the reply as it comes; the caller closes its body. */
  public HttpResponse<InputStream> stream(String path, JsonNode body) {
    HttpResponse<InputStream> response =
        send(
            request(path)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofByteArray(MAPPER.writeValueAsBytes(body)))
                .build());
    if (response.statusCode() / 100 != 2) {
      try (InputStream in = response.body()) {
        throw refusal(response.statusCode(), in.readNBytes(1 << 20));
      } catch (IOException e) {
        throw new Failure(hub + " broke off its answer: " + e.getMessage(), e);
      }
    }
    return response;
  }

  private HttpRequest.Builder request(String path) {
    HttpRequest.Builder builder = HttpRequest.newBuilder(URI.create(hub + path));
    key.ifPresent(value -> builder.header("Authorization", "Bearer " + value));
    return builder;
  }

  private JsonNode answer(HttpRequest request) {
    HttpResponse<InputStream> response = send(request);
    byte[] body;
    try (InputStream in = response.body()) {
      body = in.readAllBytes();
    } catch (IOException e) {
      throw new Failure(hub + " broke off its answer: " + e.getMessage(), e);
    }
    if (response.statusCode() / 100 != 2) {
      throw refusal(response.statusCode(), body);
    }
    try {
      return body.length == 0 ? MAPPER.createObjectNode() : MAPPER.readTree(body);
    } catch (JacksonException e) {
      throw new Failure(
          hub
              + request.uri().getPath()
              + " answers, but not as a "
              + kind()
              + " does; is "
              + option
              + " right?",
          e);
    }
  }

  private HttpResponse<InputStream> send(HttpRequest request) {
    try {
      return http.send(request, BodyHandlers.ofInputStream());
    } catch (HttpTimeoutException e) {
      throw new Failure("no answer from " + hub + " in time: " + e.getMessage(), e);
    } catch (ConnectException e) {
      throw new Failure(notThere(e), e);
    } catch (SSLException e) {
      throw new Failure(TlsTrouble.explain(hub.toString(), e), e);
    } catch (IOException e) {
      String what = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
      boolean noHttp = what.contains("header parser") || what.contains("status line");
      throw new Failure(
          noHttp
              ? hub + " does not answer in HTTP; if it speaks TLS, write " + option + " https://…"
              : "can't talk with " + hub + ": " + what,
          e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Failure("interrupted while asking " + hub, e);
    }
  }

  private String notThere(ConnectException e) {
    if (e.getCause() instanceof ConnectException deeper
        && deeper.getCause() instanceof UnresolvedAddressException) {
      return "the name " + hub.getHost() + " is not known; is " + option + " right?";
    }
    return "nothing answers at "
        + hub
        + (option.equals("--hub")
            ? ": start a hub with 'flotilla up', or name the one you mean with --hub URL"
            : ": is that server running? Name the one you mean with " + option + " URL");
  }

  private String kind() {
    return option.equals("--hub") ? "hub" : "server with OpenAI's API";
  }

  private Failure refusal(int status, byte[] body) {
    String message = "";
    try {
      message = MAPPER.readTree(body).path("error").path("message").asString("");
    } catch (JacksonException e) {
      // Not a hub's own refusal: the status has to do.
    }
    if (status == 401 || status == 403) {
      String hint = key.isEmpty() ? " (give one with FLOTILLA_KEY or --key)" : "";
      return Failure.ofKey((message.isEmpty() ? hub + " answers " + status : message) + hint);
    }
    if (message.isEmpty() && status < 500 && option.equals("--hub")) {
      return new Failure(
          hub
              + " answers (HTTP "
              + status
              + ") but is no Flotilla hub: name the one you mean with --hub URL or FLOTILLA_HUB");
    }
    return new Failure(message.isEmpty() ? hub + " answers " + status : message);
  }
}
