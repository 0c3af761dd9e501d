package dev.flotilla.engine.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;

class WorkersTest {
  @Test
  void everyPieceIsTakenOnceInEachRegion() {
    try (Workers workers = new Workers(3)) {
      for (int round = 1; round <= 2000; round++) {
        AtomicIntegerArray taken = new AtomicIntegerArray(17);
        workers.run(worker -> {
          for (int piece = workers.claim(); piece < 17; piece = workers.claim()) {
            taken.incrementAndGet(piece);
          }
        });
        for (int piece = 0; piece < 17; piece++) {
          assertThat(taken.get(piece)).isEqualTo(1);
        }
      }
    }
  }

  @Test
  void aFailureIsThrownAndThePoolStaysUsable() {
    try (Workers workers = new Workers(2)) {
      assertThatThrownBy(() ->
              workers.run(worker -> {
                if (worker == 1) {
                  throw new IllegalArgumentException("broken");
                }
              }))
          .hasRootCauseMessage("broken");
      AtomicIntegerArray ran = new AtomicIntegerArray(2);
      workers.run(ran::incrementAndGet);
      assertThat(ran.get(0) + ran.get(1)).isEqualTo(2);
    }
  }
}
