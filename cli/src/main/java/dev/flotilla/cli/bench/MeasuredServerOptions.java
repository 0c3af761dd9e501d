package dev.flotilla.cli.bench;

import dev.flotilla.bench.load.Endpoint;
import dev.flotilla.bench.load.RequestForm;
import dev.flotilla.bench.load.ServerUnderTest;
import dev.flotilla.bench.load.ServerUnusable;
import dev.flotilla.cli.client.HubOptions;
import dev.flotilla.cli.output.Failure;
import dev.flotilla.cli.output.NamedFile;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.cli.output.Text;
import dev.flotilla.cli.output.WholeNumber;
import dev.flotilla.cli.output.WrongUsage;
import dev.flotilla.wire.connection.Authorities;
import dev.flotilla.wire.http.HttpHeaders;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** Which server is measured, as whom, and what its requests look like. */
final class MeasuredServerOptions {
  private static final int NAMED_MAX = 8;

  @Option(
      names = {"--url", "--base-url"},
      paramLabel = "URL",
      description =
          "Any OpenAI-compatible server, with or without /v1 (else FLOTILLA_HUB, else the hub of"
              + " the state folder, else "
              + HubOptions.DEFAULT_HUB
              + ").")
  private @Nullable String url;

  @Option(names = "--host", paramLabel = "HOST", description = "In place of --url, with --port.")
  private @Nullable String host;

  @Option(
      names = "--port",
      paramLabel = "N",
      converter = Port.class,
      description = "The port on --host (default: 8000).")
  private @Nullable Integer port;

  @Option(
      names = {"--model", "--served-model-name"},
      paramLabel = "NAME",
      description = "The model's name as the server knows it (default: its only one).")
  private @Nullable String model;

  @Option(
      names = {"--backend", "--endpoint-type"},
      paramLabel = "NAME",
      description = "openai-chat, or openai for plain completions (default: openai-chat).")
  private @Nullable String backend;

  @Option(
      names = "--endpoint",
      paramLabel = "PATH",
      description = "Where it is asked (default: /v1/chat/completions or /v1/completions).")
  private @Nullable String path;

  @Option(
      names = "--key",
      paramLabel = "KEY",
      description =
          "The key to ask with, where the server demands one. Better in FLOTILLA_KEY: arguments are"
              + " visible to other users of the machine.")
  private @Nullable String key;

  @Option(
      names = "--ca",
      paramLabel = "FILE",
      description = "Certificate (PEM) of a private authority, trusted beside the machine's own.")
  private @Nullable Path ca;

  @Option(
      names = "--header",
      paramLabel = "NAME=VALUE",
      arity = "1..*",
      description = "Further headers of each request.")
  private List<String> headers = List.of();

  @Option(
      names = "--extra-body",
      paramLabel = "JSON",
      description =
          "Fields that are added to each request, or replace its own; null takes one out. By"
              + " default a request has temperature 0.")
  private @Nullable String extraBody;

  @Option(names = "--ignore-eos", description = "Tells the engine to write on to the full length.")
  private boolean ignoreEos;

  @Option(
      names = "--no-continuous-usage",
      description = "Does not ask for a count of tokens in each chunk: some servers refuse that.")
  private boolean noContinuousUsage;

  @Option(names = "--no-keep-alive", description = "A new connection for each request.")
  private boolean noKeepAlive;

  MeasuredServerOptions() {}

  boolean keepAlive() {
    return !noKeepAlive;
  }

  Endpoint endpoint() {
    String named = backend;
    if (named != null) {
      return Endpoint.of(named)
          .orElseThrow(() ->
              new WrongUsage(
                  "--backend: '"
                      + Text.printable(named)
                      + "' is not one of openai-chat, openai, vllm"));
    }
    return path != null && !path.endsWith(Endpoint.OPENAI_CHAT.path())
        ? Endpoint.OPENAI
        : Endpoint.OPENAI_CHAT;
  }

  /** The server that the options name. */
  ServerUnderTest server(Shell shell) {
    return at(address(shell), shell);
  }

  /** Another server, asked in the same way. */
  ServerUnderTest at(URI address, Shell shell) {
    return at(address, givenKey(shell));
  }

  /** Another server, asked in the same way with a key of its own. */
  ServerUnderTest at(URI address, Optional<String> itsKey) {
    try {
      return new ServerUnderTest(address, itsKey, givenHeaders(), trust());
    } catch (IllegalArgumentException e) {
      throw new WrongUsage("--url: " + e.getMessage(), e);
    }
  }

  private URI address(Shell shell) {
    if (url != null && (host != null || port != null)) {
      throw new WrongUsage("--url and --host or --port can't both say where the server is");
    }
    URI base =
        host != null || port != null
            ? HubOptions.httpAddress(
                (host == null ? "127.0.0.1" : host) + ":" + (port == null ? 8000 : port), "--host")
            : url != null ? HubOptions.httpAddress(url, "--url") : HubOptions.usualAddress(shell);
    return path == null ? base : URI.create(withoutV1(base.toString()) + prefix(path));
  }

  private static String withoutV1(String base) {
    return base.endsWith("/v1") ? base.substring(0, base.length() - "/v1".length()) : base;
  }

  /** What of {@code --endpoint} comes before the part that OpenAI's API gives. */
  private String prefix(String given) {
    String ending = endpoint().path();
    boolean plain = given.chars().allMatch(c -> c > ' ' && c < 0x7f && c != '?' && c != '#');
    if (!given.startsWith("/") || !given.endsWith(ending) || !plain) {
      throw new WrongUsage(
          "--endpoint: '"
              + Text.printable(given)
              + "' should begin with / and end with "
              + ending
              + ", as /v1"
              + ending
              + " does");
    }
    return given.substring(0, given.length() - ending.length());
  }

  /** Whether the options themselves name a server. */
  boolean namesServer() {
    return url != null || host != null || port != null;
  }

  /** The model that is named. */
  Optional<String> namedModel() {
    return Optional.ofNullable(model);
  }

  /** The key of the option, else of the environment. */
  Optional<String> givenKey(Shell shell) {
    Optional<String> said = key != null ? Optional.of(key) : shell.variable("FLOTILLA_KEY");
    Optional<String> bare = said.map(String::strip);
    if (bare.isPresent()
        && (bare.get().isEmpty() || !bare.get().chars().allMatch(c -> c > ' ' && c < 0x7f))) {
      throw new WrongUsage(
          (key != null ? "--key" : "FLOTILLA_KEY")
              + ": a key has no spaces, and no letters beyond"
              + " ASCII");
    }
    return bare;
  }

  private HttpHeaders givenHeaders() {
    HttpHeaders all = HttpHeaders.NONE;
    for (String pair : headers) {
      int equals = pair.indexOf('=');
      if (equals < 1) {
        throw new WrongUsage("--header: '" + Text.printable(pair) + "' is not NAME=VALUE");
      }
      try {
        all = all.with(pair.substring(0, equals).strip(), pair.substring(equals + 1).strip());
      } catch (IllegalArgumentException e) {
        throw new WrongUsage("--header: " + e.getMessage(), e);
      }
    }
    return all;
  }

  private Optional<SSLContext> trust() {
    if (ca == null) {
      return Optional.empty();
    }
    try {
      return Optional.of(Authorities.with(NamedFile.readable("--ca", ca)));
    } catch (IOException e) {
      throw new WrongUsage("--ca: " + e.getMessage(), e);
    }
  }

  /** How requests for that model look. */
  RequestForm form(String name) {
    Map<String, JsonNode> extra = Map.of();
    if (extraBody != null) {
      try {
        extra = RequestForm.fields(extraBody);
      } catch (IllegalArgumentException e) {
        throw new WrongUsage(
            "--extra-body: that is no JSON object; one looks like '{\"top_p\":0.9}'", e);
      }
    }
    Map<String, JsonNode> fields = new HashMap<>(extra);
    return new RequestForm(
        endpoint(), endpoint().path(), name, ignoreEos, !noContinuousUsage, fields);
  }

  /** The server's only model; of several, the one that is named. */
  String onlyModel(ServerUnderTest server) {
    try {
      List<String> known = server.models();
      return known.size() == 1 ? known.getFirst() : model(server);
    } catch (ServerUnusable e) {
      throw new Failure(String.valueOf(e.getMessage()), e);
    }
  }

  /** The model that is named, else the server's only one. */
  String model(ServerUnderTest server) {
    List<String> known;
    try {
      known = server.models();
    } catch (ServerUnusable e) {
      if (model != null && e.answered()) {
        // It is there, and may serve the model without listing any.
        return model;
      }
      throw new Failure(String.valueOf(e.getMessage()), e);
    }
    if (model != null) {
      return model;
    }
    if (known.size() == 1) {
      return known.getFirst();
    }
    throw new WrongUsage(
        known.isEmpty()
            ? server.base() + " lists no models; name one with --model"
            : server.base()
                + " serves several models; name one with --model: "
                + Text.printable(
                    String.join(", ", known.subList(0, Math.min(NAMED_MAX, known.size()))))
                + (known.size() > NAMED_MAX ? ", …" : ""));
  }

  /** A port of TCP. */
  static final class Port extends WholeNumber {
    Port() {
      super(1, 65_535);
    }
  }
}
