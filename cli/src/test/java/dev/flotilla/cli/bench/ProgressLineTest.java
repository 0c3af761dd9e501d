package dev.flotilla.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.bench.load.Progress;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ProgressLineTest {

  @Test
  void beforeTheFirstAnswerNobodyKnowsHowLongItTakes() {
    assertThat(ProgressLine.words(new Progress(64, 8, 0, 0, 0), Duration.ofSeconds(3)))
        .isEqualTo("0 of 64, 8 under way");
  }

  @Test
  void thenTheTimeThatIsLeftIsToldFromTheRate() {
    assertThat(ProgressLine.words(new Progress(64, 24, 16, 0, 2_000), Duration.ofSeconds(4)))
        .isEqualTo("16 of 64, 8 under way, 4.0 req/s, 500 tok/s, 12 s left");
    assertThat(ProgressLine.words(new Progress(2_000, 24, 16, 3, 2_000), Duration.ofSeconds(4)))
        .isEqualTo("16 of 2000 (3 failed), 8 under way, 4.0 req/s, 500 tok/s, 8 min left");
  }
}
