package dev.flotilla.hub.store;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * What is kept of a secret: its SHA-256. A fast hash is right here, and a slow one (bcrypt, argon2)
 * would only cost time with each request: our secrets are 190 random bits, which nobody guesses
 * from a hash however fast it is; slow hashes are for passwords that people make up.
 *
 * @param hex 64 lower-case hexadecimal digits
 */
public record SecretHash(String hex) {

  /** Cloned for each secret, which every request brings: to ask for one by its name costs more. */
  private static final MessageDigest SHA_256 = sha256();

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  public static SecretHash of(String secret) {
    try {
      MessageDigest digest = (MessageDigest) SHA_256.clone();
      return new SecretHash(
          HexFormat.of().formatHex(digest.digest(secret.getBytes(StandardCharsets.UTF_8))));
    } catch (CloneNotSupportedException e) {
      throw new IllegalStateException("the JDK's own SHA-256 can be cloned", e);
    }
  }

  /** Compares in time that does not depend on where the two differ. */
  public boolean sameAs(SecretHash other) {
    return MessageDigest.isEqual(
        hex.getBytes(StandardCharsets.US_ASCII), other.hex.getBytes(StandardCharsets.US_ASCII));
  }
}
