package dev.flotilla.hub.api;

import dev.flotilla.hub.fleet.BackendView;
import dev.flotilla.hub.fleet.WorkerView;
import dev.flotilla.hub.routing.FleetSnapshot;
import dev.flotilla.hub.routing.TargetLoad;
import dev.flotilla.hub.spec.FleetSpec;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The documents of the API that are put together from several parts. */
final class ApiViews {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private ApiViews() {}

  /** A JSON array of records as they are. */
  static ArrayNode list(List<?> records) {
    ArrayNode list = MAPPER.createArrayNode();
    records.forEach(item -> list.add(MAPPER.<ObjectNode>valueToTree(item)));
    return list;
  }

  /** Workers with what the dispatcher knows of them. */
  static ArrayNode workers(List<WorkerView> workers, List<TargetLoad> loads) {
    Map<String, TargetLoad> byName = byName(loads);
    ArrayNode list = MAPPER.createArrayNode();
    for (WorkerView worker : workers) {
      ObjectNode node = MAPPER.valueToTree(worker);
      addLoad(node, byName.get(worker.name()));
      list.add(node);
    }
    return list;
  }

  static ArrayNode models(FleetSpec spec, FleetSnapshot fleet) {
    ArrayNode list = MAPPER.createArrayNode();
    for (FleetSpec.Model model : spec.models()) {
      FleetSnapshot.Name name = fleet.names().get(model.name());
      ObjectNode node =
          list.addObject()
              .put("name", model.name())
              .put("contextTokens", model.promise().contextTokens())
              .put("reasoning", model.promise().reasoning().word())
              .put("tools", model.promise().tools())
              .put("replicas", model.replicas())
              .put("serving", name == null ? 0 : admitting(name))
              .put("coming", name == null ? 0 : name.coming())
              .put("explanation", name == null ? "" : name.explanation());
      ArrayNode sources = node.putArray("sources");
      model.recipes().stream().map(FleetSpec.Recipe::source).distinct().forEach(sources::add);
      node.set("recipes", list(model.recipes()));
    }
    return list;
  }

  private static long admitting(FleetSnapshot.Name name) {
    return name.targets().stream().filter(target -> target.admitting()).count();
  }

  /** Backends; of the key only the variable's name is known here. */
  static ArrayNode backends(FleetSpec spec, List<BackendView> views, List<TargetLoad> loads) {
    Map<String, TargetLoad> byName = byName(loads);
    ArrayNode list = MAPPER.createArrayNode();
    for (FleetSpec.Backend backend : spec.backends()) {
      ObjectNode node =
          list.addObject()
              .put("name", backend.name())
              .put("url", backend.url().toString())
              .put("model", backend.model())
              .put("slots", backend.slots())
              .put("key", backend.keyVariable().map(variable -> "env:" + variable).orElse(""));
      views.stream()
          .filter(view -> view.name().equals(backend.name()))
          .findFirst()
          .ifPresent(view -> {
            node.put("state", view.state().name()).put("stateReason", view.reason());
            node.put("since", view.since() == null ? null : view.since().toString());
          });
      addLoad(node, byName.get(backend.name()));
    }
    return list;
  }

  static ArrayNode routes(FleetSpec spec) {
    ArrayNode list = MAPPER.createArrayNode();
    for (FleetSpec.Route route : spec.routes()) {
      ObjectNode node = list.addObject().put("name", route.name());
      ArrayNode models = node.putArray("models");
      route.models().forEach(models::add);
      node.put("strategy", "fastest");
      ArrayNode to = node.putArray("to");
      for (FleetSpec.Destination destination : route.to()) {
        to.add(
            switch (destination) {
              case FleetSpec.Destination.ToModel model -> "model " + model.name();
              case FleetSpec.Destination.ToBackend backend -> "backend " + backend.name();
            });
      }
    }
    return list;
  }

  private static Map<String, TargetLoad> byName(List<TargetLoad> loads) {
    return loads.stream()
        .collect(Collectors.toMap(TargetLoad::target, Function.identity(), (a, b) -> a));
  }

  private static void addLoad(ObjectNode node, @Nullable TargetLoad load) {
    node.put("inFlight", load == null ? 0 : load.inFlight());
    node.put("decodeTokensPerSecond", load == null ? 0 : load.decodeTokensPerSecond());
    node.put("prefillTokensPerSecond", load == null ? 0 : load.prefillTokensPerSecond());
    node.put("served", load == null ? 0 : load.served());
    node.put("failed", load == null ? 0 : load.failed());
    node.put("setAsideMillis", load == null ? 0 : load.setAsideMillis());
  }
}
