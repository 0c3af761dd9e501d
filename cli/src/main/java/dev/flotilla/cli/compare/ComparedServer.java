package dev.flotilla.cli.compare;

import dev.flotilla.cli.client.PrivateAuthority;
import dev.flotilla.cli.output.Failure;
import dev.flotilla.cli.output.NamedFile;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.cli.output.Text;
import dev.flotilla.cli.output.WrongUsage;
import dev.flotilla.shape.probe.ProbeLimits;
import dev.flotilla.shape.probe.ProbeReply;
import dev.flotilla.shape.probe.ProbeTarget;
import dev.flotilla.shape.probe.UrlCaller;
import dev.flotilla.shape.report.CompareReport;
import dev.flotilla.wire.openai.EngineError;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** One of the two servers: where it is, as whom it is asked, what it lists. */
final class ComparedServer implements AutoCloseable {
  private static final int KEY_BYTES_MAX = 8 << 10;
  private static final int NAMED_MAX = 8;

  private final String name;
  private final URI address;
  private final UrlCaller caller;
  private final ProbeLimits limits;
  private final boolean keyed;
  private @Nullable JsonNode models;

  /**
   * @param name A or B
   * @param key where its key is, as typed
   */
  ComparedServer(
      String name,
      URI address,
      @Nullable String key,
      @Nullable Path ca,
      Shell shell,
      ProbeLimits limits) {
    this.name = name;
    this.address = address;
    this.limits = limits;
    Optional<String> secret = Optional.ofNullable(key).map(where -> key(where, shell));
    this.keyed = secret.isPresent();
    this.caller =
        new UrlCaller(
            address,
            secret,
            Optional.ofNullable(ca)
                .map(file -> PrivateAuthority.trusting(NamedFile.readable("--ca", file))));
  }

  private String key(String where, Shell shell) {
    String option = "--key-" + name.toLowerCase(Locale.ROOT);
    String key;
    if (where.startsWith("env:")) {
      String variable = where.substring(4);
      key =
          shell
              .variable(variable)
              .orElseThrow(() ->
                  new WrongUsage(
                      option + ": the variable " + Text.printable(variable) + " is not set"));
    } else if (where.startsWith("file:")) {
      key = fromFile(option, Path.of(where.substring(5)));
    } else {
      // Whatever it is, it may be the key: it is not repeated.
      throw new WrongUsage(
          option + " says where the key is: env:VARIABLE or file:PATH, never the key itself");
    }
    String bare = key.strip();
    if (bare.isEmpty() || !bare.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
      throw new WrongUsage(option + ": what is there is no key: it is empty or not one word");
    }
    return bare;
  }

  private static String fromFile(String option, Path file) {
    Path there = NamedFile.readable(option, file);
    try {
      if (Files.size(there) > KEY_BYTES_MAX) {
        throw new WrongUsage(option + ": " + file + " is larger than any key");
      }
      return Files.readString(there);
    } catch (IOException e) {
      throw new WrongUsage(option + ": " + file + " can't be read as text", e);
    }
  }

  UrlCaller caller() {
    return caller;
  }

  CompareReport.Server described(ProbeTarget target) {
    return new CompareReport.Server(name, address.toString(), target.model());
  }

  /** The model's name at this server: the one that was asked for, or its only one. */
  String model(Optional<String> asked) {
    if (asked.isPresent()) {
      return asked.get();
    }
    List<String> names = new ArrayList<>();
    models().forEach(each -> names.add(each.path("id").asString("")));
    if (names.size() == 1 && !names.getFirst().isEmpty()) {
      return names.getFirst();
    }
    String which = "--model-" + name.toLowerCase(Locale.ROOT) + " NAME";
    if (names.isEmpty()) {
      throw new Failure(name + ", " + address + ", lists no models; name one with " + which);
    }
    throw new Failure(
        "%s, %s, lists %d models; choose with %s: %s"
            .formatted(
                name,
                address,
                names.size(),
                which,
                Text.printable(
                    String.join(", ", names.subList(0, Math.min(NAMED_MAX, names.size()))))));
  }

  /** The context that the server lists with its models; 0 where it lists none. */
  int contextTokens() {
    int longest = 0;
    for (JsonNode each : models()) {
      longest = Math.max(longest, each.path("max_model_len").asInt(0));
      longest = Math.max(longest, each.path("meta").path("n_ctx").asInt(0));
      longest = Math.max(longest, each.path("context_length").asInt(0));
    }
    return longest;
  }

  private JsonNode models() {
    if (models == null) {
      models = list();
    }
    return models;
  }

  private JsonNode list() {
    ProbeReply reply;
    try {
      reply = caller.get("/v1/models", limits);
    } catch (IOException e) {
      throw new Failure(
          name + ", " + address + ", does not answer: " + e.getMessage() + "; is it running?", e);
    }
    if (reply.status() == 401 || reply.status() == 403) {
      String which = "--key-" + name.toLowerCase(Locale.ROOT);
      throw new Failure(
          name
              + ", "
              + address
              + ", refuses to answer ("
              + reply.status()
              + ")"
              + (keyed ? ": is its key right?" : ": it wants a key, " + which + " env:VARIABLE"));
    }
    if (reply.status() != 200) {
      String said = EngineError.parse(reply.body()).message();
      throw new Failure(
          "%s, %s, answers %d to /v1/models%s"
              .formatted(
                  name,
                  address,
                  reply.status(),
                  said.isEmpty() ? "" : ": " + Text.printable(said)));
    }
    try {
      JsonNode data = JsonMapper.shared().readTree(reply.body()).path("data");
      return data.isArray() ? data : JsonMapper.shared().createArrayNode();
    } catch (JacksonException _) {
      // Such as mlx-lm without the folder of its cache: an empty body.
      return JsonMapper.shared().createArrayNode();
    }
  }

  @Override
  public void close() {
    caller.close();
  }
}
