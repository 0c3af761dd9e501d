package dev.flotilla.hub.store;

import java.nio.file.Path;
import java.time.InstantSource;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A program that stores revisions as fast as it can and prints each number once it is told it. */
final class AcknowledgingWriter {

  private AcknowledgingWriter() {}

  public static void main(String[] args) throws Exception {
    Store store = Store.open(Path.of(args[0]), StoreLimits.DEFAULT, InstantSource.system());
    try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 4; i++) {
        var _ =
            callers.submit(() -> {
              while (true) {
                long number =
                    store.revisions().add("ann", InstantSource.system().instant(), "models: {}");
                System.out.println(number);
              }
            });
      }
    }
  }
}
