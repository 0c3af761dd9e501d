package dev.flotilla.shape.probe;

import java.io.IOException;

/**
 * The way by which probes reach one server: straight to an address, or through a hub to one of its
 * workers.
 */
@FunctionalInterface
public interface Caller {
  /**
   * Sends one request and takes the reply in to its end, within the limits {@code connect}, {@code
   * call} and {@code replyBytesMax}. A reply that breaks off, or grows too long, is no failure:
   * what came is given back, with {@link ProbeReply#cut()}.
   *
   * @throws IOException if no head of a reply came; the message says why, in words for people
   */
  ProbeReply call(ProbeCall call, ProbeLimits limits) throws IOException;
}
