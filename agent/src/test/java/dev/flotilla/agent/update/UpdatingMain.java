package dev.flotilla.agent.update;

import dev.flotilla.agent.engine.ProgressListener;
import dev.flotilla.agent.lanes.ReleaseSource;
import dev.flotilla.wire.lanes.ControlMessage.UpdateOffered;
import dev.flotilla.wire.lanes.ControlMessage.UpdateStep.Stage;
import dev.flotilla.wire.release.Release;
import dev.flotilla.wire.release.ReleaseKey;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import tools.jackson.databind.json.JsonMapper;

/**
 * An agent's updater as a process: takes the offer in a file, whose release lies beside it and
 * comes slowly where the first argument says so, and waits to be killed.
 */
final class UpdatingMain {
  private UpdatingMain() {}

  public static void main(String[] arguments) throws Exception {
    boolean slowly = arguments[0].equals("slowly");
    Path home = Path.of(arguments[1]);
    Path file = Path.of(arguments[2]);
    Release release =
        JsonMapper.shared().readValue(Files.readAllBytes(Path.of(arguments[3])), Release.class);
    CountDownLatch ready = new CountDownLatch(1);
    Updater updater =
        Updater.of(
            home,
            "0.1.0",
            new UpdateRules(home, List.of(ReleaseKey.parse(arguments[4]).orElseThrow()), true),
            (version, from, silence) -> {
              InputStream in = Files.newInputStream(file);
              in.skipNBytes(from);
              return new ReleaseSource.Opened(from, slowly ? new Slow(in) : in, in);
            },
            UpdateLimits.DEFAULTS,
            ProgressListener.NOBODY,
            step -> {
              System.out.println(step);
              if (step.stage() == Stage.READY) {
                ready.countDown();
              }
            });
    updater.offered(new UpdateOffered(release, 1));
    ready.await();
    updater.now(release.version());
    System.out.println("replaced");
    new CountDownLatch(1).await();
  }

  /** A few bytes at a time, so that there is a middle. */
  private static final class Slow extends FilterInputStream {
    Slow(InputStream in) {
      super(in);
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
      try {
        Thread.sleep(1);
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
      return super.read(into, offset, Math.min(length, 512));
    }
  }
}
