package dev.flotilla.hub.keys;

import java.util.random.RandomGenerator;

/**
 * The form of our secrets: a prefix that says what it is, and 32 random characters of 62, which is
 * 190 bits.
 */
enum Secrets {
  CLIENT_KEY("fl-"),
  ENROLMENT_TOKEN("ft-"),
  NODE_CREDENTIAL("fn-");

  private static final String ALPHABET =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  private static final int RANDOM_CHARS = 32;

  private final String prefix;

  Secrets(String prefix) {
    this.prefix = prefix;
  }

  String make(RandomGenerator random) {
    StringBuilder secret = new StringBuilder(prefix);
    for (int i = 0; i < RANDOM_CHARS; i++) {
      secret.append(ALPHABET.charAt(random.nextInt(ALPHABET.length())));
    }
    return secret.toString();
  }

  /** Whether it can be one of ours: what can't is refused without being hashed or looked up. */
  boolean wellFormed(String secret) {
    if (secret.length() != prefix.length() + RANDOM_CHARS || !secret.startsWith(prefix)) {
      return false;
    }
    // A loop, since each request of a client comes by here.
    for (int i = prefix.length(); i < secret.length(); i++) {
      char c = secret.charAt(i);
      if (!(c >= '0' && c <= '9') && !(c >= 'A' && c <= 'Z') && !(c >= 'a' && c <= 'z')) {
        return false;
      }
    }
    return true;
  }
}
