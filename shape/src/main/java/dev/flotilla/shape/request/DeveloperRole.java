package dev.flotilla.shape.request;

import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.shape.request.EngineRequest.Place;

/**
 * OpenAI's newer word for the system's role, which engines hand to a model's template as it is; few
 * templates know it.
 */
final class DeveloperRole implements RequestDifference {
  @Override
  public void edit(Asked asked, Place place, BodyEdits edits) {
    if (place.dialect() != Dialect.UNKNOWN) {
      asked.scanned().developerRoles().forEach(span -> edits.replace(span, "\"system\""));
    }
  }
}
