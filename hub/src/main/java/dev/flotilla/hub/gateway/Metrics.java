package dev.flotilla.hub.gateway;

import dev.flotilla.hub.routing.Dispatcher;
import dev.flotilla.hub.routing.FleetSnapshot;
import dev.flotilla.hub.routing.FleetSource;
import dev.flotilla.hub.routing.TargetLoad;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The hub's numbers for Prometheus. Names follow OpenTelemetry's conventions for generative models
 * where those have one, with dots as underscores; the rest begin with {@code flotilla}.
 *
 * <p>A meter is looked up once per model and outcome, not per request. Models are public names, so
 * their number is bounded by the configuration; a name that does not exist counts as {@code
 * unknown}.
 */
public final class Metrics {
  private static final Duration[] SECONDS = {
    Duration.ofMillis(10),
    Duration.ofMillis(20),
    Duration.ofMillis(40),
    Duration.ofMillis(80),
    Duration.ofMillis(160),
    Duration.ofMillis(320),
    Duration.ofMillis(640),
    Duration.ofMillis(1280),
    Duration.ofMillis(2560),
    Duration.ofMillis(5120),
    Duration.ofMillis(10240),
    Duration.ofMillis(20480),
    Duration.ofMillis(40960),
    Duration.ofMillis(81920)
  };

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final Map<Key, Timer> durations = new ConcurrentHashMap<>();
  private final Map<Key, OfModel> models = new ConcurrentHashMap<>();
  private final Map<Key, Counter> failures = new ConcurrentHashMap<>();
  private final List<Runnable> looks = new CopyOnWriteArrayList<>();
  private final MultiGauge waiting;
  private final MultiGauge inFlight;
  private final MultiGauge aside;
  private final MultiGauge serving;

  private record Key(String model, String operation, String outcome) {}

  private record OfModel(
      Timer firstToken,
      Timer perToken,
      Timer queue,
      DistributionSummary promptTokens,
      DistributionSummary completionTokens) {}

  public Metrics() {
    waiting =
        MultiGauge.builder("flotilla.queue.depth")
            .description("Requests that wait for a place")
            .register(registry);
    inFlight =
        MultiGauge.builder("flotilla.target.in_flight")
            .description("Requests in flight on a worker or backend")
            .register(registry);
    aside =
        MultiGauge.builder("flotilla.target.set_aside")
            .baseUnit("seconds")
            .description("How much longer a target is set aside for its faults")
            .register(registry);
    serving =
        MultiGauge.builder("flotilla.model.targets")
            .description("Targets that admit requests for a model")
            .register(registry);
  }

  /** Where other parts of the hub add their own numbers. */
  public PrometheusMeterRegistry registry() {
    return registry;
  }

  /** A number of another part, read at each scrape; {@code name} begins with {@code flotilla}. */
  public void gauge(String name, String description, Supplier<Number> value) {
    Gauge.builder(name, value).description(description).register(registry);
  }

  /** Runs before each scrape: for numbers of another part that come in changing rows. */
  public void beforeScrape(Runnable look) {
    looks.add(look);
  }

  void attemptFailed(String model, String target) {
    failures
        .computeIfAbsent(
            new Key(model, target, ""),
            key ->
                Counter.builder("flotilla.attempts.failed")
                    .description("Attempts that a target failed")
                    .tags("gen_ai_request_model", key.model(), "target", key.operation())
                    .register(registry))
        .increment();
  }

  void finished(Exchange exchange) {
    String model = exchange.model.isEmpty() ? "unknown" : exchange.model;
    String operation = operation(exchange);
    String outcome = exchange.errorCode.isEmpty() ? exchange.outcome : exchange.errorCode;
    durations
        .computeIfAbsent(new Key(model, operation, outcome), this::duration)
        .record(exchange.endedNanos - exchange.arrivedNanos, TimeUnit.NANOSECONDS);
    if (exchange.attempts == 0 || exchange.model.isEmpty()) {
      return;
    }
    OfModel of = models.computeIfAbsent(new Key(model, operation, ""), this::ofModel);
    of.queue().record(exchange.queueNanos, TimeUnit.NANOSECONDS);
    if (exchange.promptTokens() >= 0) {
      of.promptTokens().record(exchange.promptTokens());
      of.completionTokens().record(exchange.completionTokens());
    }
    if (exchange.streamed && exchange.firstByteNanos != 0) {
      of.firstToken().record(exchange.firstByteNanos - exchange.arrivedNanos, TimeUnit.NANOSECONDS);
      if (exchange.completionTokens() > 1 && exchange.outcome.equals("ok")) {
        of.perToken()
            .record(
                (exchange.endedNanos - exchange.firstByteNanos) / (exchange.completionTokens() - 1),
                TimeUnit.NANOSECONDS);
      }
    }
  }

  private static String operation(Exchange exchange) {
    return switch (exchange.endpoint) {
      case CHAT -> "chat";
      case COMPLETIONS -> "text_completion";
      case EMBEDDINGS -> "embeddings";
    };
  }

  private static Tags tags(Key key) {
    return Tags.of("gen_ai_operation_name", key.operation(), "gen_ai_request_model", key.model());
  }

  private Timer duration(Key key) {
    return Timer.builder("gen_ai.server.request.duration")
        .description("From a request's arrival to the end of its reply")
        .tags(tags(key))
        .tag("error_type", key.outcome().equals("ok") ? "" : key.outcome())
        .serviceLevelObjectives(SECONDS)
        .register(registry);
  }

  private OfModel ofModel(Key key) {
    return new OfModel(
        timer("gen_ai.server.time_to_first_token", "To the first token of a stream", key),
        timer("gen_ai.server.time_per_output_token", "Between the tokens of a stream", key),
        timer("flotilla.queue.wait", "Wait for a place", key),
        tokens(key, "input"),
        tokens(key, "output"));
  }

  private Timer timer(String name, String description, Key key) {
    return Timer.builder(name)
        .description(description)
        .tags(tags(key))
        .serviceLevelObjectives(SECONDS)
        .register(registry);
  }

  private DistributionSummary tokens(Key key, String type) {
    return DistributionSummary.builder("gen_ai.client.token.usage")
        .description("Tokens of a request, as its engine counted")
        .tags(tags(key).and("gen_ai_token_type", type))
        .serviceLevelObjectives(1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144)
        .register(registry);
  }

  /** The whole in Prometheus' text form, with the gauges as they stand now. */
  String scrape(FleetSource fleet, Dispatcher dispatcher) {
    looks.forEach(Runnable::run);
    Map<String, Integer> depths = dispatcher.waiting();
    List<MultiGauge.Row<?>> waits = new ArrayList<>();
    List<MultiGauge.Row<?>> targets = new ArrayList<>();
    for (FleetSnapshot.Name name : fleet.current().names().values()) {
      Tags tags = Tags.of("gen_ai_request_model", name.name());
      waits.add(MultiGauge.Row.of(tags, depths.getOrDefault(name.name(), 0)));
      targets.add(
          MultiGauge.Row.of(tags, name.targets().stream().filter(e -> e.admitting()).count()));
    }
    List<MultiGauge.Row<?>> flights = new ArrayList<>();
    List<MultiGauge.Row<?>> asides = new ArrayList<>();
    for (TargetLoad load : dispatcher.loads()) {
      Tags tags = Tags.of("target", load.target());
      flights.add(MultiGauge.Row.of(tags, load.inFlight()));
      asides.add(MultiGauge.Row.of(tags, load.setAsideMillis() / 1000.0));
    }
    waiting.register(waits, true);
    serving.register(targets, true);
    inFlight.register(flights, true);
    aside.register(asides, true);
    return registry.scrape();
  }
}
