package dev.flotilla.shape.probe;

import java.time.Duration;

/**
 * What became of one probe at one server.
 *
 * @param took from the request to the end of the reply; zero where it was not asked
 */
public record ProbeResult(Probe probe, Outcome outcome, Duration took) {

  /** How it ended. */
  public sealed interface Outcome {}

  /**
   * There was a reply.
   *
   * @param reply as it came, for whoever wants to see it
   */
  public record Replied(Shape shape, ProbeReply reply) implements Outcome {}

  /**
   * There was none.
   *
   * @param why in words
   */
  public record Silent(String why) implements Outcome {}

  /**
   * It was not asked.
   *
   * @param why in words
   */
  public record LeftOut(String why) implements Outcome {}
}
