package dev.flotilla.wire.release;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Optional;

/**
 * The public half of a key that signs releases (Ed25519, RFC 8032), as a policy names it: {@code
 * ed25519:} and its 32 bytes in base64.
 *
 * @param text that form
 */
public record ReleaseKey(String text) {
  private static final String ALGORITHM = "Ed25519";
  private static final String PREFIX = "ed25519:";
  private static final int KEY_BYTES = 32;
  private static final String PEM_BEGIN = "-----BEGIN PRIVATE KEY-----";
  private static final String PEM_END = "-----END PRIVATE KEY-----";

  /** What stands before the 32 bytes in an X.509 public key (RFC 8410, section 4). */
  private static final byte[] X509_HEAD = HexFormat.of().parseHex("302a300506032b6570032100");

  /** A new pair: what stays secret, and what is told. */
  public record Pair(String privatePem, ReleaseKey key) {
    @Override
    public String toString() {
      return "Pair[" + key + "]";
    }
  }

  /** Makes a pair. */
  public static Pair generate() {
    try {
      KeyPair pair = KeyPairGenerator.getInstance(ALGORITHM).generateKeyPair();
      String body =
          Base64.getMimeEncoder(64, new byte[] {'\n'})
              .encodeToString(pair.getPrivate().getEncoded());
      return new Pair(PEM_BEGIN + "\n" + body + "\n" + PEM_END + "\n", of(pair.getPublic()));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has Ed25519", e);
    }
  }

  /** Reads the form of a policy; empty where it is none. */
  public static Optional<ReleaseKey> parse(String text) {
    if (!text.startsWith(PREFIX)) {
      return Optional.empty();
    }
    try {
      ReleaseKey key = new ReleaseKey(text);
      key.publicKey();
      return Optional.of(key);
    } catch (IllegalArgumentException | GeneralSecurityException e) {
      return Optional.empty();
    }
  }

  /**
   * Signs in the name of a private key's file.
   *
   * @param pem the file's text, a secret
   * @throws IOException where it holds no Ed25519 key in PKCS#8; the message has none of it
   */
  public static String sign(String pem, byte[] what) throws IOException {
    try {
      Signature signature = Signature.getInstance(ALGORITHM);
      signature.initSign(privateKey(pem));
      signature.update(what);
      return Base64.getEncoder().encodeToString(signature.sign());
    } catch (GeneralSecurityException | IllegalArgumentException e) {
      throw new IOException("it holds no Ed25519 key in PEM (PKCS#8)");
    }
  }

  /** Whether this key's other half signed exactly that. */
  public boolean signed(Release release) {
    try {
      Signature signature = Signature.getInstance(ALGORITHM);
      signature.initVerify(publicKey());
      signature.update(release.signedBytes());
      return signature.verify(Base64.getDecoder().decode(release.signature()));
    } catch (GeneralSecurityException | IllegalArgumentException e) {
      return false;
    }
  }

  private static ReleaseKey of(PublicKey key) {
    byte[] encoded = key.getEncoded();
    return new ReleaseKey(
        PREFIX
            + Base64.getEncoder()
                .encodeToString(
                    Arrays.copyOfRange(encoded, encoded.length - KEY_BYTES, encoded.length)));
  }

  private PublicKey publicKey() throws GeneralSecurityException {
    byte[] bytes = Base64.getDecoder().decode(text.substring(PREFIX.length()));
    if (bytes.length != KEY_BYTES) {
      throw new IllegalArgumentException("an Ed25519 key has 32 bytes");
    }
    byte[] encoded = Arrays.copyOf(X509_HEAD, X509_HEAD.length + KEY_BYTES);
    System.arraycopy(bytes, 0, encoded, X509_HEAD.length, KEY_BYTES);
    return KeyFactory.getInstance(ALGORITHM).generatePublic(new X509EncodedKeySpec(encoded));
  }

  private static PrivateKey privateKey(String pem) throws GeneralSecurityException {
    int begin = pem.indexOf(PEM_BEGIN);
    int end = pem.indexOf(PEM_END);
    if (begin < 0 || end < begin) {
      throw new IllegalArgumentException("no PEM");
    }
    byte[] encoded =
        Base64.getMimeDecoder()
            .decode(
                pem.substring(begin + PEM_BEGIN.length(), end).getBytes(StandardCharsets.US_ASCII));
    return KeyFactory.getInstance(ALGORITHM).generatePrivate(new PKCS8EncodedKeySpec(encoded));
  }
}
