package dev.flotilla.testkit.real;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CacheLockTest {
  private static final int THREADS = 8;

  @Test
  void threadsOfOneJvmWaitForEachOther(@TempDir Path folder) throws Exception {
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    List<Future<?>> all = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      for (int i = 0; i < THREADS; i++) {
        all.add(
            threads.submit(() -> {
              try (CacheLock lock = CacheLock.of(folder.resolve("thing.lock"))) {
                assertThat(lock.held()).isTrue();
                most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                Thread.onSpinWait();
                inside.decrementAndGet();
              }
              return null;
            }));
      }
      for (Future<?> each : all) {
        each.get();
      }
    }
    assertThat(most).hasValue(1);
  }
}
