package dev.flotilla.hub.gateway;

import dev.flotilla.shape.reply.Assembly;
import dev.flotilla.shape.reply.StreamShaper;
import dev.flotilla.wire.http.SseReader;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.node.ObjectNode;

/**
 * Carries one answer that its engine streams: event by event to the client, or into an {@link
 * Assembly} where the client wants it whole.
 *
 * <p>An event that is right as it is lies in the reader's buffer and goes from there into the
 * listener's, and nothing is made for it; the others are made anew by the {@link StreamShaper}. For
 * the request's thread.
 */
final class StreamRelay {
  private final EngineEvents events;
  private final Exchange exchange;
  private final StreamShaper shaper;
  private final LongSupplier nanoClock;

  /** Until its first text was seen. */
  private boolean looksForThought;

  private boolean leakedThought;

  /**
   * @param looksForThought whether a thought at the beginning of the text is none of the target's
   */
  StreamRelay(
      EngineEvents events,
      Exchange exchange,
      StreamShaper shaper,
      boolean looksForThought,
      LongSupplier nanoClock) {
    this.looksForThought = looksForThought;
    this.events = events;
    this.exchange = exchange;
    this.shaper = shaper;
    this.nanoClock = nanoClock;
  }

  /**
   * Relays the answer to its end, or to where the hub ends it.
   *
   * @throws AttemptFailed where it broke off; {@code out} says whether the client has some of it
   */
  void relay(ClientStream out) throws AttemptFailed, ClientGone {
    while (events.next(out::flush)) {
      firstByte();
      if (shaper.passes(events.chunk())) {
        out.event(events.chunk(), events.event());
      } else {
        for (ObjectNode chunk : shape()) {
          out.chunk(chunk);
        }
        if (shaper.stopped()) {
          return;
        }
      }
    }
  }

  /** Puts the answer together; the client gets nothing before it is whole. */
  void assemble(Assembly into) throws AttemptFailed, ClientGone {
    while (events.next(() -> {})) {
      firstByte();
      shape().forEach(into::add);
      if (shaper.stopped()) {
        return;
      }
    }
  }

  private Iterable<ObjectNode> shape() throws AttemptFailed {
    SseReader event = events.event();
    try {
      return shaper.shape(event.dataBuffer(), event.dataStart(), event.dataLength());
    } catch (JacksonException _) {
      throw events.noJson();
    }
  }

  /** Whether the text began with a thought. */
  boolean leakedThought() {
    return leakedThought;
  }

  private void firstByte() {
    if (looksForThought && events.chunk().hasText()) {
      SseReader event = events.event();
      looksForThought = false;
      leakedThought = LeakedThought.in(event.dataBuffer(), event.dataStart(), event.dataLength());
    }
    if (exchange.firstByteNanos == 0) {
      exchange.firstByteNanos = nanoClock.getAsLong();
    }
  }

  /** What the answer cost, null where the engine has not said. */
  @Nullable ObjectNode usage() {
    return shaper.usage();
  }
}
