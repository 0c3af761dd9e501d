package dev.flotilla.hub.gateway;

import dev.flotilla.hub.routing.Admission;
import dev.flotilla.hub.routing.RequestNeeds;
import dev.flotilla.wire.openai.ApiError;
import dev.flotilla.wire.text.Counted;

/** The errors for a queue that is full or too slow; each names its limit. */
final class Crowded {
  private Crowded() {}

  static ApiError queueFull(RequestNeeds needs, Admission.QueueFull full) {
    return ApiError.tooManyRequests(
        full.perKey() ? "key_queue_full" : "queue_full",
        (full.perKey() ? "this key has " : full.limit() == 1 ? "there is " : "there are ")
            + Counted.of(full.limit(), "request")
            + " waiting for model '"
            + needs.model()
            + "', which is the limit ("
            + (full.perKey() ? "half of limits.queue.per-model" : "limits.queue.per-model")
            + " in fleet.yaml)",
        full.retryAfter());
  }

  static ApiError waitedTooLong(RequestNeeds needs, Admission.WaitedTooLong late) {
    return ApiError.tooManyRequests(
        "queue_wait_exceeded",
        "no worker of model '"
            + needs.model()
            + "' was free within "
            + (late.limit().toSeconds() > 0
                ? late.limit().toSeconds() + " s"
                : late.limit().toMillis() + " ms")
            + ", which is the limit (limits.queue.wait in fleet.yaml)",
        late.retryAfter());
  }
}
