package dev.flotilla.cli.client;

import dev.flotilla.cli.output.WrongUsage;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
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
        throw new WrongUsage("--ca: there is no certificate in " + pemFile);
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
    } catch (CertificateException e) {
      throw new WrongUsage("--ca: " + pemFile + " holds no certificate in PEM form", e);
    } catch (IOException | GeneralSecurityException e) {
      throw new WrongUsage("--ca: " + pemFile + " can't be read: " + e.getMessage(), e);
    }
  }
}
