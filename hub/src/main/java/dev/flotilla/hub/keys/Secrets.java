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
    return secret.length() == prefix.length() + RANDOM_CHARS
        && secret.startsWith(prefix)
        && secret.chars().skip(prefix.length()).allMatch(c -> ALPHABET.indexOf(c) >= 0);
  }
}
