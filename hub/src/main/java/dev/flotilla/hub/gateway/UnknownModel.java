package dev.flotilla.hub.gateway;

import dev.flotilla.hub.routing.FleetSnapshot;
import dev.flotilla.wire.openai.ApiError;
import dev.flotilla.wire.text.Names;
import java.util.stream.Collectors;

/** The error for a name that nothing serves, with the names that there are. */
final class UnknownModel {
  private UnknownModel() {}

  static ApiError error(String model, FleetSnapshot fleet, int namesShown) {
    String known =
        fleet.names().keySet().stream().limit(namesShown).collect(Collectors.joining(", "));
    int more = fleet.names().size() - namesShown;
    return new ApiError(
        404,
        "invalid_request_error",
        "model_not_found",
        "the model "
            + Names.shown(model)
            + " does not exist; "
            + (known.isEmpty()
                ? "this hub serves none yet"
                : "known are: " + known + (more > 0 ? " and " + more + " more" : "")),
        "model",
        null);
  }
}
