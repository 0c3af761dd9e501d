package dev.flotilla.agent.lanes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLServerSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** TLS to a hub whose certificate a private authority signed for the name {@code localhost}. */
class HubDialerTest {
  private static final char[] PASSWORD = "changeit".toCharArray();

  @TempDir Path folder;

  @Test
  void aHubOfAPrivateAuthorityIsTrustedByItsFileAlone() throws Exception {
    Path authority = certificate("localhost");
    try (SSLServerSocket server = server()) {
      HubAddress address = new HubAddress("localhost", server.getLocalPort(), true);
      HubDialer trusting = dialer(address, Optional.of(authority));
      try (HubConnection hub = trusting.dial()) {
        hub.output().write("hello\n".getBytes(StandardCharsets.US_ASCII));
        assertThat(FakeHub.line(hub.input())).isEqualTo("hello");
        hub.endOutput();
        assertThat(hub.input().read()).isEqualTo(-1);
      }

      HubDialer usual = dialer(address, Optional.empty());
      assertThatThrownBy(usual::dial)
          .isInstanceOfSatisfying(
              SSLException.class,
              e -> assertThat(usual.explain(e)).contains("no authority", "--ca FILE"));
    }
  }

  @Test
  void aCertificateForAnotherNameIsRefused() throws Exception {
    Path authority = certificate("hub.example.org");
    try (SSLServerSocket server = server()) {
      HubDialer dialer =
          dialer(new HubAddress("localhost", server.getLocalPort(), true), Optional.of(authority));

      assertThatThrownBy(dialer::dial)
          .isInstanceOfSatisfying(
              SSLException.class, e -> assertThat(dialer.explain(e)).contains("localhost"));
    }
  }

  @Test
  void aFileWithoutACertificateIsRefusedAtOnce() throws Exception {
    Path empty = Files.writeString(folder.resolve("empty.pem"), "");
    Path text = Files.writeString(folder.resolve("text.pem"), "no certificate at all");
    HubAddress address = new HubAddress("localhost", 1, true);

    assertThatThrownBy(() -> dialer(address, Optional.of(empty)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("holds no certificate");
    assertThatThrownBy(() -> dialer(address, Optional.of(text)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("text.pem");
  }

  private static HubDialer dialer(HubAddress address, Optional<Path> authority) throws IOException {
    return new HubDialer(address, authority, AgentLaneLimits.DEFAULT);
  }

  /** Makes a key for {@code name} in the server's store; its certificate as a PEM file. */
  private Path certificate(String name) throws Exception {
    Path pem = folder.resolve("authority.pem");
    keytool(
        "-genkeypair",
        "-keyalg",
        "EC",
        "-dname",
        "CN=" + name,
        "-ext",
        "san=dns:" + name,
        "-validity",
        "2");
    keytool("-exportcert", "-rfc", "-file", pem.toString());
    return pem;
  }

  private void keytool(String... arguments) throws Exception {
    java.util.ArrayList<String> command = new java.util.ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(List.of(arguments));
    command.addAll(
        List.of(
            "-alias",
            "hub",
            "-storetype",
            "PKCS12",
            "-storepass",
            new String(PASSWORD),
            "-keystore",
            folder.resolve("keys.p12").toString()));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
  }

  /** Sends back what it gets. */
  private SSLServerSocket server() throws Exception {
    KeyStore keys = KeyStore.getInstance(folder.resolve("keys.p12").toFile(), PASSWORD);
    KeyManagerFactory factory =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    factory.init(keys, PASSWORD);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(factory.getKeyManagers(), null, null);
    SSLServerSocket server =
        (SSLServerSocket)
            context
                .getServerSocketFactory()
                .createServerSocket(0, 5, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(() -> echo(server));
    return server;
  }

  private static void echo(SSLServerSocket server) {
    while (!server.isClosed()) {
      try (Socket socket = server.accept();
          InputStream in = socket.getInputStream()) {
        in.transferTo(socket.getOutputStream());
      } catch (IOException e) {
        // The client did not like the certificate, or the test is over.
      }
    }
  }
}
