package dev.flotilla.cli.client;

import dev.flotilla.cli.output.WrongUsage;
import dev.flotilla.wire.connection.Authorities;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.util.Collection;
import javax.net.ssl.SSLContext;

/** Trust in one named authority, for a hub whose certificate no public authority signed. */
public final class PrivateAuthority {
  private PrivateAuthority() {}

  /** A context that trusts the certificates in the PEM file, and none else. */
  public static SSLContext trusting(Path pemFile) {
    try {
      Collection<? extends Certificate> certificates = Authorities.read(pemFile);
      if (certificates.isEmpty()) {
        throw new WrongUsage("--ca: there is no certificate in " + pemFile);
      }
      return Authorities.trusting(certificates);
    } catch (CertificateException e) {
      throw new WrongUsage("--ca: " + pemFile + " holds no certificate in PEM form", e);
    } catch (IOException | GeneralSecurityException e) {
      throw new WrongUsage("--ca: " + pemFile + " can't be read: " + e.getMessage(), e);
    }
  }
}
