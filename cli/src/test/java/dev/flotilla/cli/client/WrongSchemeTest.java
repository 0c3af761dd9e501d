package dev.flotilla.cli.client;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.cli.TestShell;
import dev.flotilla.hub.Hub;
import dev.flotilla.hub.HubConfig;
import dev.flotilla.hub.HubRefused;
import dev.flotilla.hub.server.HubServer.Certificate;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
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
    Certificate certificate = selfSigned();
    try (Hub hub = hub(Optional.of(certificate))) {
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
            name -> Optional.empty()));
  }

  private Certificate selfSigned() throws Exception {
    Path store = home.resolve("hub.p12");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "hub",
                "-keyalg",
                "EC",
                "-storetype",
                "PKCS12",
                "-storepass",
                "changeit",
                "-dname",
                "CN=hub",
                "-ext",
                "san=ip:127.0.0.1",
                "-keystore",
                store.toString())
            .redirectErrorStream(true)
            .start();
    String said = new String(keytool.getInputStream().readAllBytes(), UTF_8);
    assertThat(keytool.waitFor()).as(said).isZero();
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(store)) {
      keys.load(in, "changeit".toCharArray());
    }
    return new Certificate(
        pem("CERTIFICATE", keys.getCertificate("hub").getEncoded()),
        pem("PRIVATE KEY", keys.getKey("hub", "changeit".toCharArray()).getEncoded()));
  }

  private Path pem(String what, byte[] content) throws IOException {
    return Files.writeString(
        home.resolve(what.replace(' ', '-') + ".pem"),
        "-----BEGIN "
            + what
            + "-----\n"
            + Base64.getMimeEncoder(64, "\n".getBytes(US_ASCII)).encodeToString(content)
            + "\n-----END "
            + what
            + "-----\n");
  }
}
