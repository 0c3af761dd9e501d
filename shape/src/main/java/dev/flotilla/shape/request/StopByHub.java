package dev.flotilla.shape.request;

import dev.flotilla.shape.request.EngineRequest.Place;

/**
 * Stop strings that the hub looks for itself. mlx-lm finds one only where it ends with a token;
 * elsewhere it cuts it out of the text and goes on.
 */
final class StopByHub implements RequestDifference {
  @Override
  public void edit(Asked asked, Place place, BodyEdits edits) {
    if (asked.hubStops(place.dialect())) {
      edits.drop("stop");
    }
  }
}
