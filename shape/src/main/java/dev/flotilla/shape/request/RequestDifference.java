package dev.flotilla.shape.request;

import dev.flotilla.shape.request.EngineRequest.Place;

/** One way in which an engine wants requests otherwise than clients write them. Keeps nothing. */
interface RequestDifference {
  /** Notes what has to change where this request goes to that place; nothing, most of the time. */
  void edit(Asked asked, Place place, BodyEdits edits);
}
