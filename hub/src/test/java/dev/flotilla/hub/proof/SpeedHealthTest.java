package dev.flotilla.hub.proof;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

final class SpeedHealthTest {
  private final SpeedHealth health = new SpeedHealth(Duration.ofSeconds(20), 5);
  private long now;

  private boolean after(int seconds, double speed) {
    now += Duration.ofSeconds(seconds).toNanos();
    return health.isSick(speed, 20, now);
  }

  @Test
  void oneSlowAnswerIsNoIllness() {
    assertThat(after(1, 40)).isFalse();
    assertThat(after(1, 5)).isFalse();
    for (int i = 0; i < 100; i++) {
      assertThat(after(1, 40)).isFalse();
    }
  }

  @Test
  void slowForAWhileIs() {
    for (int i = 0; i < 5; i++) {
      assertThat(after(4, 10)).isFalse();
    }
    assertThat(after(4, 10)).as("20 s after the first").isTrue();
  }

  @Test
  void fewAnswersSayLittleHoweverLongItTook() {
    assertThat(after(1, 10)).isFalse();
    assertThat(after(60, 10)).isFalse();
    assertThat(after(60, 10)).isFalse();
    assertThat(after(60, 10)).isFalse();
    assertThat(after(60, 10)).as("the fifth").isTrue();
  }

  @Test
  void aSpeedThatHoversBelowTheFloorBeginsNothingAndEndsNothing() {
    for (int i = 0; i < 50; i++) {
      assertThat(after(4, 19)).as("above nine tenths").isFalse();
    }
    assertThat(health.isWell()).isTrue();
    for (int i = 0; i < 4; i++) {
      assertThat(after(1, 5)).isFalse();
    }
    assertThat(health.isWell()).isFalse();
    for (int i = 0; i < 3; i++) {
      assertThat(after(1, 19)).isFalse();
    }
    assertThat(health.isWell()).as("not at the floor yet").isFalse();
    for (int i = 0; i < 10; i++) {
      assertThat(after(1, 30)).isFalse();
    }
    assertThat(health.isWell()).isTrue();
  }
}
