package dev.flotilla.wire.connection;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;

/** Whom {@code https} connections trust beside the machine's own authorities. */
public final class Authorities {
  private Authorities() {}

  /**
   * The machine's own authorities and those in a PEM file, as {@code --ca} names it.
   *
   * @throws IOException where the file can't be read or holds no certificate; the message says so
   */
  public static SSLContext with(Path pem) throws IOException {
    try {
      Collection<? extends Certificate> given = read(pem);
      if (given.isEmpty()) {
        throw new IOException(pem + " holds no certificate: --ca takes a PEM file");
      }
      List<Certificate> all = new ArrayList<>(List.of(machinesOwn()));
      all.addAll(given);
      return trusting(all);
    } catch (NoSuchFileException missing) {
      throw new IOException("there is no file " + pem, missing);
    } catch (GeneralSecurityException malformed) {
      throw new IOException(
          pem + " can't be read as certificates in PEM: " + malformed.getMessage(), malformed);
    }
  }

  /**
   * The certificates in a PEM file; empty where it holds none.
   *
   * @throws CertificateException where what is there is no certificate
   */
  public static Collection<? extends Certificate> read(Path pem)
      throws IOException, CertificateException {
    try (InputStream in = Files.newInputStream(pem)) {
      return CertificateFactory.getInstance("X.509").generateCertificates(in);
    }
  }

  /** Trust in these authorities, and in none else. */
  public static SSLContext trusting(Collection<? extends Certificate> authorities)
      throws IOException, GeneralSecurityException {
    KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
    trusted.load(null, null);
    int number = 0;
    for (Certificate authority : authorities) {
      trusted.setCertificateEntry("authority-" + number++, authority);
    }
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, managers(trusted), null);
    return context;
  }

  private static X509Certificate[] machinesOwn() throws GeneralSecurityException {
    TrustManagerFactory factory =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init((KeyStore) null);
    for (TrustManager manager : factory.getTrustManagers()) {
      if (manager instanceof X509TrustManager own) {
        return own.getAcceptedIssuers();
      }
    }
    return new X509Certificate[0];
  }

  private static TrustManager[] managers(KeyStore trusted) throws GeneralSecurityException {
    TrustManagerFactory factory =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(trusted);
    return factory.getTrustManagers();
  }
}
