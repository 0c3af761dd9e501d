package dev.flotilla.hub.spec;

import dev.flotilla.hub.spec.FleetSpec.Backend;
import dev.flotilla.hub.spec.FleetSpec.Destination;
import dev.flotilla.hub.spec.FleetSpec.Limits;
import dev.flotilla.hub.spec.FleetSpec.Model;
import dev.flotilla.hub.spec.FleetSpec.Route;
import dev.flotilla.wire.text.Names;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads the composed file: models (by {@link ModelReader}), backends, routes, limits, and what must
 * hold between them. One reader for one file.
 */
final class FleetReader {

  /** Models, backends or routes of one file. */
  static final int ENTRIES_MAX = 1_000;

  private static final int DESTINATIONS_MAX = 64;
  private static final int BACKEND_SLOTS_DEFAULT = 4;
  private static final int BACKEND_SLOTS_MAX = 4_096;
  private static final int TEXT_CHARS_MAX = 1_024;
  private static final int QUEUE_MAX = 100_000;
  private static final int PROOF_TOKENS_MIN = 16;
  private static final int PROOF_TOKENS_MAX = 4_096;
  private static final Duration PROOF_LEVEL_MIN = Duration.ofSeconds(1);
  private static final Duration PROOF_LEVEL_MAX = Duration.ofMinutes(2);
  private static final Duration WAIT_MAX = Duration.ofHours(1);
  private static final long BODY_BYTES_MIN = 1L << 10;

  /** What the listener takes at most ({@code ServerLimits}): more could not be kept. */
  private static final long BODY_BYTES_MAX = 64L << 20;

  private static final Pattern VARIABLE = Pattern.compile("env:([A-Za-z_][A-Za-z0-9_]{0,127})");

  // Names that the file gives, also to entries that have problems of their own: a route to such a
  // one does not dangle.
  private final Set<String> modelNames = new HashSet<>();
  private final Set<String> backendNames = new HashSet<>();

  Optional<FleetSpec> read(Value root) {
    Optional<Section> file = root.section();
    if (file.isEmpty()) {
      return Optional.empty();
    }
    Section section = file.get();
    List<Model> models = new ArrayList<>();
    List<Backend> backends = new ArrayList<>();
    List<Route> routes = new ArrayList<>();
    ModelReader modelReader = new ModelReader();
    entries(section, "models")
        .forEach((name, value) -> {
          modelNames.add(name);
          Names.modelProblem(name).ifPresent(value.key()::problem);
          modelReader.read(name, value.value()).ifPresent(models::add);
        });
    entries(section, "backends")
        .forEach((name, value) -> {
          backendNames.add(name);
          Names.entryProblem(name).ifPresent(value.key()::problem);
          backend(name, value.value()).ifPresent(backends::add);
        });
    Map<String, String> routeOfName = new HashMap<>();
    entries(section, "routes")
        .forEach((name, value) -> {
          Names.entryProblem(name).ifPresent(value.key()::problem);
          if (modelNames.contains(name)) {
            value.key().problem("a model has this name already; give the route another");
          }
          route(name, value.value(), routeOfName).ifPresent(routes::add);
        });
    Limits limits = section.take("limits").flatMap(this::limits).orElse(Limits.DEFAULT);
    section.end(List.of("nodes"));
    return Optional.of(new FleetSpec(models, backends, routes, limits));
  }

  private record Entry(Value key, Value value) {}

  private static Map<String, Entry> entries(Section file, String key) {
    Map<String, Entry> entries = new java.util.LinkedHashMap<>();
    Optional<Section> section = file.take(key).flatMap(Value::section);
    if (section.isEmpty()) {
      return entries;
    }
    section
        .get()
        .takeAll()
        .forEach((name, value) -> entries.put(name, new Entry(section.get().key(name), value)));
    if (entries.size() > ENTRIES_MAX) {
      section
          .get()
          .problem("there are %d; at most %d are allowed".formatted(entries.size(), ENTRIES_MAX));
      entries.clear();
    }
    return entries;
  }

  private Optional<Backend> backend(String name, Value value) {
    Optional<Section> found = value.section();
    if (found.isEmpty()) {
      return Optional.empty();
    }
    Section section = found.get();
    Optional<URI> url = section.need("url", "http://10.0.0.5:8080/v1").flatMap(FleetReader::url);
    Optional<String> model =
        section.need("model", "coder").flatMap(text -> text.text(TEXT_CHARS_MAX));
    OptionalInt slots =
        ModelReader.numberOr(section, "slots", 1, BACKEND_SLOTS_MAX, BACKEND_SLOTS_DEFAULT);
    Optional<Value> keyValue = section.take("key");
    Optional<String> key = keyValue.flatMap(FleetReader::variable);
    section.end(List.of());
    if (url.isEmpty()
        || model.isEmpty()
        || slots.isEmpty()
        || keyValue.isPresent() != key.isPresent()) {
      return Optional.empty();
    }
    return Optional.of(new Backend(name, url.get(), model.get(), slots.getAsInt(), key));
  }

  /** The value itself is never shown: what stands there may be a secret. */
  private static Optional<String> variable(Value value) {
    var form = VARIABLE.matcher(value.raw().orElse(""));
    if (!form.matches()) {
      value.problem(
          "write `env:NAME`, the environment variable of the hub that holds the key; the key itself"
              + " does not belong into this file");
      return Optional.empty();
    }
    return Optional.of(form.group(1));
  }

  private static Optional<URI> url(Value value) {
    Optional<String> text = value.text(TEXT_CHARS_MAX);
    if (text.isEmpty()) {
      return Optional.empty();
    }
    URI url;
    try {
      url = new URI(text.get());
    } catch (URISyntaxException e) {
      value.problem("%s is not an address: %s".formatted(value.shown(), e.getReason()));
      return Optional.empty();
    }
    String scheme = url.getScheme() == null ? "" : url.getScheme();
    if (!scheme.equals("http") && !scheme.equals("https")) {
      value.problem("an address begins with `http://` or `https://`, unlike " + value.shown());
    } else if (url.getRawUserInfo() != null) {
      value.problem("an address holds no user or password; use `key: env:NAME`");
    } else if (url.getHost() == null || url.getPort() == 0 || url.getPort() > 65_535) {
      value.problem(value.shown() + " names no host, or a port that is none");
    } else if (url.getRawQuery() != null || url.getRawFragment() != null) {
      value.problem("an address ends with its path, unlike " + value.shown());
    } else {
      String path = url.getRawPath().replaceAll("/+$", "");
      if (path.isEmpty() || path.endsWith("/v1")) {
        String whole = path.isEmpty() ? "/v1" : path;
        return Optional.of(URI.create(scheme + "://" + url.getRawAuthority() + whole));
      }
      value.problem("the address must end in `/v1`, as in `http://10.0.0.5:8080/v1`");
    }
    return Optional.empty();
  }

  private Optional<Route> route(String name, Value value, Map<String, String> routeOfName) {
    Optional<Section> found = value.section();
    if (found.isEmpty()) {
      return Optional.empty();
    }
    Section section = found.get();
    List<String> models = new ArrayList<>();
    section
        .need("match", "{ models: [" + name + "] }")
        .flatMap(Value::section)
        .ifPresent(match -> {
          match
              .need("models", "[" + name + "]")
              .ifPresent(list -> publicNames(name, list, routeOfName, models));
          match.end(List.of("headers", "keys", "prompt-tokens"));
        });
    section
        .take("strategy")
        .ifPresent(strategy ->
            strategy.word(
                List.of("fastest"), List.of("least-loaded", "weighted", "primary-fallback")));
    List<Destination> to = new ArrayList<>();
    section
        .need("to", "[{ backend: NAME }]")
        .ifPresent(list -> list.items(DESTINATIONS_MAX).forEach(item -> destination(item, to)));
    section.end(List.of());
    return models.isEmpty() || to.isEmpty()
        ? Optional.empty()
        : Optional.of(new Route(name, models, to));
  }

  private void publicNames(
      String route, Value list, Map<String, String> routeOfName, List<String> names) {
    for (Value item : list.itemsOrOne(ENTRIES_MAX)) {
      Optional<String> text = item.text(TEXT_CHARS_MAX);
      if (text.isEmpty()) {
        continue;
      }
      String name = text.get();
      Optional<String> problem = Names.modelProblem(name);
      @Nullable String other = routeOfName.putIfAbsent(name, route);
      if (problem.isPresent()) {
        item.problem(problem.get());
      } else if (modelNames.contains(name)) {
        item.problem(
            "%s is a model already; give the route another name and send it `to: [{ model: %s }]`"
                .formatted(item.shown(), name));
      } else if (other != null) {
        item.problem(
            "%s is a name of route %s already".formatted(item.shown(), Problems.shown(other)));
      } else {
        names.add(name);
      }
    }
  }

  private void destination(Value item, List<Destination> to) {
    Optional<Section> found = item.section();
    if (found.isEmpty()) {
      return;
    }
    Section section = found.get();
    Optional<Value> backend = section.take("backend");
    Optional<Value> model = section.take("model");
    section.end(List.of("weight"));
    if (backend.isPresent() == model.isPresent()) {
      section.problem("a destination is either `backend: NAME` or `model: NAME`");
      return;
    }
    Value value = backend.or(() -> model).orElseThrow();
    Set<String> known = backend.isPresent() ? backendNames : modelNames;
    Optional<String> name = value.text(TEXT_CHARS_MAX);
    if (name.isEmpty()) {
      return;
    }
    Destination destination =
        backend.isPresent()
            ? new Destination.ToBackend(name.get())
            : new Destination.ToModel(name.get());
    if (!known.contains(name.get())) {
      value.problem(
          "there is no %s %s in this file%s"
              .formatted(
                  backend.isPresent() ? "backend" : "model",
                  value.shown(),
                  Words.didYouMean(name.get(), known)));
    } else if (to.contains(destination)) {
      value.problem(value.shown() + " is here twice");
    } else {
      to.add(destination);
    }
  }

  private Optional<Limits> limits(Value value) {
    Optional<Section> found = value.section();
    if (found.isEmpty()) {
      return Optional.empty();
    }
    Section section = found.get();
    Limits defaults = Limits.DEFAULT;
    int perModel = defaults.queuePerModel();
    Duration wait = defaults.queueWait();
    Optional<Section> queue = section.take("queue").flatMap(Value::section);
    if (queue.isPresent()) {
      perModel =
          ModelReader.numberOr(queue.get(), "per-model", 1, QUEUE_MAX, perModel).orElse(perModel);
      wait =
          queue
              .get()
              .take("wait")
              .flatMap(text -> Quantity.duration(text, Duration.ofMillis(1), WAIT_MAX))
              .orElse(wait);
      queue.get().end(List.of());
    }
    long body = defaults.requestBodyBytes();
    Optional<Value> bodyValue = section.take("request-body");
    if (bodyValue.isPresent()) {
      body = Quantity.bytes(bodyValue.get(), BODY_BYTES_MIN, BODY_BYTES_MAX).orElse(body);
    }
    int proofTokens = defaults.proofTokens();
    Duration proofLevel = defaults.proofLevel();
    Optional<Section> proof = section.take("proof").flatMap(Value::section);
    if (proof.isPresent()) {
      proofTokens =
          ModelReader.numberOr(
                  proof.get(), "tokens", PROOF_TOKENS_MIN, PROOF_TOKENS_MAX, proofTokens)
              .orElse(proofTokens);
      proofLevel =
          proof
              .get()
              .take("level")
              .flatMap(text -> Quantity.duration(text, PROOF_LEVEL_MIN, PROOF_LEVEL_MAX))
              .orElse(proofLevel);
      proof.get().end(List.of());
    }
    section.end(List.of());
    return Optional.of(new Limits(perModel, wait, body, proofTokens, proofLevel));
  }
}
