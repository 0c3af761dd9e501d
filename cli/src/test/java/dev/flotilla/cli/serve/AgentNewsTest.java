package dev.flotilla.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.cli.output.Shell;
import java.io.ByteArrayInputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class AgentNewsTest {
  private final StringWriter err = new StringWriter();
  private final AtomicLong nanos = new AtomicLong();
  private final AgentNews news =
      new AgentNews(
          new Shell(
              new ByteArrayInputStream(new byte[0]),
              new PrintWriter(new StringWriter(), true),
              new PrintWriter(err, true),
              Map.of(),
              false,
              false,
              0),
          nanos::get);

  @Test
  void twoStepsThatTakeTurnsOnOneSubjectAreALineEachAndThenSeldomOne() {
    for (int look = 0; look < 40; look++) {
      news.progress("llama-server", "fetching", look, 100, false);
      news.progress("llama-server", "waiting for another agent that installs it", 0, -1, false);
      nanos.addAndGet(250_000_000L);
    }
    assertThat(err.toString().lines()).hasSize(2);

    news.progress("llama-server", "fetching", 40, 100, false);
    assertThat(err.toString().lines()).as("ten seconds later").hasSize(3);
  }
}
