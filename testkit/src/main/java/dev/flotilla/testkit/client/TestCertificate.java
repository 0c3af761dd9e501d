package dev.flotilla.testkit.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;

/**
 * A self-signed certificate of the JDK's own making, both files in PEM.
 *
 * @param chain the certificate
 * @param key its private key, without a passphrase
 */
public record TestCertificate(Path chain, Path key) {

  /**
   * Makes one.
   *
   * @param alternatives what it is for, such as {@code dns:localhost,ip:127.0.0.1}
   */
  public static TestCertificate make(Path folder, String name, String alternatives)
      throws Exception {
    Path store = folder.resolve(name + ".p12");
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
                "CN=" + name,
                "-ext",
                "san=" + alternatives,
                "-keystore",
                store.toString())
            .redirectErrorStream(true)
            .start();
    String said = new String(keytool.getInputStream().readAllBytes(), UTF_8);
    if (keytool.waitFor() != 0) {
      throw new IllegalStateException("keytool made no certificate: " + said);
    }
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(store)) {
      keys.load(in, "changeit".toCharArray());
    }
    Path chain = pem(folder, name + ".crt", "CERTIFICATE", keys.getCertificate("hub").getEncoded());
    Path key =
        pem(
            folder,
            name + ".key",
            "PRIVATE KEY",
            keys.getKey("hub", "changeit".toCharArray()).getEncoded());
    return new TestCertificate(chain, key);
  }

  private static Path pem(Path folder, String file, String kind, byte[] der) throws IOException {
    String body = Base64.getMimeEncoder(64, "\n".getBytes(UTF_8)).encodeToString(der);
    return Files.writeString(
        folder.resolve(file),
        "-----BEGIN " + kind + "-----\n" + body + "\n-----END " + kind + "-----\n");
  }
}
