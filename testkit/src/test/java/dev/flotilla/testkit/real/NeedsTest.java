package dev.flotilla.testkit.real;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.opentest4j.AssertionFailedError;
import org.opentest4j.TestAbortedException;

class NeedsTest {
  @Test
  void whatIsMissingIsNamedWhereATestIsSkipped() {
    assertThatThrownBy(() -> Needs.decide(false, "browser; install chromium", false))
        .isInstanceOf(TestAbortedException.class)
        .hasMessage("skipped, for want of browser; install chromium");
  }

  @Test
  void continuousIntegrationSkipsNothing() {
    assertThatThrownBy(() -> Needs.decide(false, "browser; install chromium", true))
        .isInstanceOf(AssertionFailedError.class)
        .hasMessageContaining("there is no browser; install chromium");
  }

  @Test
  void whatIsThereIsNoReasonToSkip() {
    assertThatCode(() -> Needs.decide(true, "browser", true)).doesNotThrowAnyException();
  }
}
