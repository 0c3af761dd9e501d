package dev.flotilla.hub.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.hub.routing.Dialer.Lease;
import dev.flotilla.testkit.scripted.ScriptedEngine;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class SocketDialerTest {
  private static final Duration SOON = Duration.ofSeconds(5);

  private final AtomicLong clock = new AtomicLong(1L << 40);

  @Test
  void aKeptConnectionIsGivenOutAgainUnlessAFreshOneIsAskedFor() throws IOException {
    try (ScriptedEngine engine = ScriptedEngine.start();
        SocketDialer dialer = dialer(engine.url(), 8)) {
      Lease first = dialer.dial(false, SOON);
      assertThat(first.reused()).isFalse();
      first.keep();

      Lease fresh = dialer.dial(true, SOON);
      assertThat(fresh.reused()).isFalse();
      Lease again = dialer.dial(false, SOON);
      assertThat(again.reused()).isTrue();
      assertThat(again.connection()).isSameAs(first.connection());
      List.of(fresh, again).forEach(each -> each.connection().close());
    }
  }

  @Test
  void aConnectionThatLayIdleTooLongIsNotGivenOut() throws IOException {
    try (ScriptedEngine engine = ScriptedEngine.start();
        SocketDialer dialer = dialer(engine.url(), 8)) {
      dialer.dial(false, SOON).keep();
      clock.addAndGet(Duration.ofSeconds(31).toNanos());

      Lease lease = dialer.dial(false, SOON);

      assertThat(lease.reused()).isFalse();
      assertThat(dialer.idleConnections()).isZero();
      lease.connection().close();
    }
  }

  @Test
  void thePoolIsBounded() throws IOException {
    try (ScriptedEngine engine = ScriptedEngine.start();
        SocketDialer dialer = dialer(engine.url(), 2)) {
      List<Lease> leases =
          List.of(dialer.dial(false, SOON), dialer.dial(false, SOON), dialer.dial(false, SOON));

      leases.forEach(Lease::keep);

      assertThat(dialer.idleConnections()).isEqualTo(2);
    }
  }

  @Test
  void whereNobodyListensTheAddressIsNamed() {
    ScriptedEngine gone = ScriptedEngine.start();
    gone.close();
    try (SocketDialer dialer = dialer(gone.url(), 2)) {
      assertThatThrownBy(() -> dialer.dial(false, SOON))
          .isInstanceOf(IOException.class)
          .hasMessage("nothing listens on 127.0.0.1:" + gone.port());
    }
  }

  @Test
  void aUrlThatIsNoneIsRefused() {
    for (String url : List.of("ftp://x/", "file:///etc/passwd", "http:nothing")) {
      assertThatThrownBy(() -> dialer(url, 1)).isInstanceOf(IllegalArgumentException.class);
    }
  }

  private SocketDialer dialer(String url, int idleMax) {
    return new SocketDialer(
        URI.create(url),
        Optional.empty(),
        new SocketDialer.Limits(idleMax, Duration.ofSeconds(30)),
        clock::get);
  }
}
