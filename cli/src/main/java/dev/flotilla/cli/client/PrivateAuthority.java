package dev.flotilla.cli.client;

import dev.flotilla.cli.output.Failure;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.Collection;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Trust in one named authority, for a hub whose certificate no public authority signed. */
public final class PrivateAuthority {
  private PrivateAuthority() {}

  /** A context that trusts the certificates in the PEM file, and none else. */
  public static SSLContext trusting(Path pemFile) {
    try (InputStream in = Files.newInputStream(pemFile)) {
      Collection<? extends Certificate> certificates =
          CertificateFactory.getInstance("X.509").generateCertificates(in);
      if (certificates.isEmpty()) {
        throw new Failure("--ca " + pemFile + ": no certificate in it");
      }
      KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
      store.load(null, null);
      int index = 0;
      for (Certificate certificate : certificates) {
        store.setCertificateEntry("authority-" + index++, certificate);
      }
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(store);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), null);
      return context;
    } catch (IOException | GeneralSecurityException e) {
      throw new Failure("--ca " + pemFile + " can't be used: " + e.getMessage(), e);
    }
  }
}
