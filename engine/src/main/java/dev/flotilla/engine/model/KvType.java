package dev.flotilla.engine.model;

import java.util.Locale;

/** How keys and values are stored in a page. */
public enum KvType {
  /** Half precision: 2 bytes a number. */
  F16(32, 64),
  /** Blocks of 32 bytes with one single-precision scale: 1.125 bytes a number. */
  Q8_0(32, 36);

  private final int blockElements;
  private final int blockBytes;

  KvType(int blockElements, int blockBytes) {
    this.blockElements = blockElements;
    this.blockBytes = blockBytes;
  }

  /** The word that a command line uses. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Bytes that so many numbers take; a multiple of 32 of them. */
  long bytes(long elements) {
    return elements / blockElements * blockBytes;
  }
}
