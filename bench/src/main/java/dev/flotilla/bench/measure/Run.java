package dev.flotilla.bench.measure;

import java.time.Instant;
import java.util.List;

/**
 * One run of load on one server, from its first request to its last reply.
 *
 * @param load what was asked for
 * @param startedAt by the calendar
 * @param durationNanos from the start of the first request to the end of the last one
 * @param requests one for each prompt that was sent, by index; warm-ups are none
 * @param partial whether it was ended before all prompts were sent and answered
 * @param generator what the client itself took
 */
public record Run(
    Load load,
    Instant startedAt,
    long durationNanos,
    List<RequestRecord> requests,
    boolean partial,
    Generator generator) {

  public Run {
    requests = List.copyOf(requests);
  }

  /** A run whose client nobody looked at. */
  public Run(
      Load load,
      Instant startedAt,
      long durationNanos,
      List<RequestRecord> requests,
      boolean partial) {
    this(load, startedAt, durationNanos, requests, partial, Generator.UNOBSERVED);
  }
}
