package dev.flotilla.cli.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.cli.TestShell;
import dev.flotilla.hub.Hub;
import dev.flotilla.hub.HubConfig;
import dev.flotilla.hub.HubRefused;
import dev.flotilla.hub.proof.ProofLimits;
import dev.flotilla.server.http.HttpServer.Certificate;
import dev.flotilla.testkit.client.TestCertificate;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A hub that is there, and an address that is not quite its own. */
final class WrongSchemeTest {
  private final TestShell shell = TestShell.piped();

  @TempDir Path home;

  @Test
  void httpsToAPlainHubIsToldToUseHttp() throws Exception {
    try (Hub hub = hub(Optional.empty())) {
      String address = "https://127.0.0.1:" + hub.address().getPort();

      assertThat(shell.ask(address, "get", "workers")).isEqualTo(1);

      assertThat(shell.err())
          .isEqualTo(
              "flotilla: "
                  + address
                  + " speaks plain HTTP, not TLS: write it as http://127.0.0.1:"
                  + hub.address().getPort()
                  + "\n");
    }
  }

  @Test
  void aSelfSignedHubAsksForItsAuthorityAndAnswersWithIt() throws Exception {
    TestCertificate certificate = TestCertificate.make(home, "hub", "ip:127.0.0.1");
    try (Hub hub = hub(Optional.of(new Certificate(certificate.chain(), certificate.key())))) {
      String address = "https://127.0.0.1:" + hub.address().getPort();

      assertThat(shell.ask(address, "get", "workers")).isEqualTo(1);
      assertThat(shell.err())
          .isEqualTo(
              "flotilla: the certificate of "
                  + address
                  + " is signed by no authority that this machine trusts; pass the authority's"
                  + " certificate with --ca FILE\n");

      TestShell trusting = TestShell.piped();
      assertThat(trusting.ask(address, "get", "nodes", "--ca", certificate.chain().toString()))
          .as(trusting.err())
          .isZero();

      TestShell plain = TestShell.piped();
      assertThat(plain.ask(address.replace("https", "http"), "get", "workers")).isEqualTo(1);
      assertThat(plain.err()).contains("https");
    }
  }

  @Test
  void chatAdvisesTheOptionThatWasTyped() throws IOException {
    int port;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
    }

    assertThat(shell.run("chat", "--url", "http://127.0.0.1:" + port + "/v1", "hi")).isEqualTo(1);

    assertThat(shell.err()).contains("--url URL").doesNotContain("--hub", "flotilla up");
  }

  private Hub hub(Optional<Certificate> certificate) throws HubRefused {
    return Hub.start(
        new HubConfig(
            home.resolve("hub"),
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            certificate,
            Optional.empty(),
            false,
            false,
            "test",
            "test",
            name -> Optional.empty(),
            ProofLimits.DEFAULTS));
  }
}
