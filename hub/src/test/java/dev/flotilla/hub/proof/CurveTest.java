package dev.flotilla.hub.proof;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.hub.proof.Curve.Level;
import dev.flotilla.hub.proof.Curve.Memory;
import dev.flotilla.hub.proof.Curve.Prefill;
import java.util.List;
import org.junit.jupiter.api.Test;

final class CurveTest {
  private final Curve curve =
      new Curve(
          List.of(
              new Level(1, 100, 100, 20, 256, false),
              new Level(2, 60, 120, 30, 512, false),
              new Level(4, 30, 120, 60, 1024, true)),
          List.of(new Prefill(100, 500, 0), new Prefill(1000, 480, 50)),
          Memory.UNKNOWN);

  @Test
  void theMostSlotsThatKeepTheFloorAreGiven() {
    assertThat(curve.slotsThatKeep(0, 4)).as("no floor").isEqualTo(4);
    assertThat(curve.slotsThatKeep(20, 4)).isEqualTo(4);
    assertThat(curve.slotsThatKeep(50, 4)).isEqualTo(2);
    assertThat(curve.slotsThatKeep(90, 4)).isEqualTo(1);
    assertThat(curve.slotsThatKeep(500, 4)).as("one at least").isEqualTo(1);
  }

  @Test
  void loadIsAllowedFor() {
    assertThat(curve.shareAt(1)).isEqualTo(1);
    assertThat(curve.shareAt(2)).isCloseTo(0.6, within(1e-9));
    assertThat(curve.shareAt(3)).as("between").isCloseTo(0.45, within(1e-9));
    assertThat(curve.shareAt(4)).isCloseTo(0.3, within(1e-9));
    assertThat(curve.shareAt(8)).as("beyond").isCloseTo(0.15, within(1e-9));
  }

  @Test
  void aLongPromptIsAllowedFor() {
    assertThat(curve.shareBehind(0)).isEqualTo(1);
    assertThat(curve.shareBehind(1000)).isCloseTo(0.5, within(1e-9));
    assertThat(curve.shareBehind(500)).isCloseTo(2 / 3.0, within(1e-9));
  }

  @Test
  void oneLineForPeople() {
    assertThat(curve.words())
        .isEqualTo("100.0 tok/s alone, 60.0 each at 2, 30.0 each at 4, reads 480 tok/s");
  }
}
