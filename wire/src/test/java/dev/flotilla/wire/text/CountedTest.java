package dev.flotilla.wire.text;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CountedTest {
  @Test
  void oneThingIsNoPlural() {
    assertThat(Counted.of(0, "request")).isEqualTo("0 requests");
    assertThat(Counted.of(1, "request")).isEqualTo("1 request");
    assertThat(Counted.of(1204, "request")).isEqualTo("1,204 requests");
    assertThat(Counted.of(1, "request waits", "requests wait")).isEqualTo("1 request waits");
  }
}
