package dev.flotilla.hub.proof;

import dev.flotilla.hub.gateway.SocketDialer;
import dev.flotilla.hub.routing.Target;
import dev.flotilla.testkit.real.RealServer;
import dev.flotilla.wire.connection.Deadlines;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;

/** The sanity part of a proof, put to a real server without a hub between. */
final class AskedServer {
  private static final Duration LIMIT = Duration.ofMinutes(2);

  private AskedServer() {}

  static Evidence evidence(RealServer server) throws IOException {
    URI address = URI.create("http://127.0.0.1:" + server.port());
    String engine = server.engine().word();
    Target target =
        new Target(
            "box/m-1",
            Target.Kind.WORKER,
            "m",
            server.model(),
            engine,
            "box",
            1,
            4096,
            0,
            2,
            true,
            Target.Capability.TEXT,
            null,
            null,
            "127.0.0.1:" + server.port(),
            "",
            new SocketDialer(
                address, Optional.empty(), SocketDialer.Limits.DEFAULTS, System::nanoTime));
    try (Deadlines deadlines = new Deadlines(System::nanoTime).start()) {
      return new SanityRun(
              new Line(address, server.key(), deadlines, System::nanoTime),
              server.model(),
              engine,
              new EngineTokens(target, deadlines, LIMIT),
              LIMIT)
          .ask();
    }
  }
}
