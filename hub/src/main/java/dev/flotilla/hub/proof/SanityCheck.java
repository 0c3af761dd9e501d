package dev.flotilla.hub.proof;

import dev.flotilla.wire.Deadlines;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The sanity of whatever answers at an address, for whoever has one to compare. */
public final class SanityCheck {
  private SanityCheck() {}

  /**
   * Asks what every worker is asked.
   *
   * @param address of an OpenAI-compatible server, without a path
   * @param key bearer token, empty for none
   * @param model what is put into {@code model}
   * @param engine the engine's word, such as {@code llama-server}
   * @throws IOException where it does not answer; with words for people
   */
  public static Evidence ask(URI address, String key, String model, String engine, Duration limit)
      throws IOException {
    try (Deadlines deadlines = new Deadlines(System::nanoTime).start()) {
      Line line = new Line(address, key, deadlines, System::nanoTime);
      return new SanityRun(line, model, engine, SanityRun.PromptCounter.NONE, limit).ask();
    }
  }

  /** What was looked at; the server is not what the reference is where one did not hold. */
  public static List<Finding> judge(Evidence seen, Optional<Evidence> reference) {
    return Sanity.judge(seen, reference);
  }
}
