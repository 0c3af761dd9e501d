package dev.flotilla.wire;

import org.jspecify.annotations.Nullable;

/**
 * Bytes to be replaced by others, and the rest left as it is.
 *
 * @param from the first byte that goes
 * @param to the first byte behind it that stays; {@code from} where nothing goes
 */
@SuppressWarnings("ArrayRecordComponent") // never compared; made, applied and forgotten
record Splice(int from, int to, byte[] with) {

  /** Applies both, the first of which ends before the second begins; no splice, no copy. */
  static byte[] apply(byte[] bytes, @Nullable Splice first, @Nullable Splice second) {
    int length = bytes.length + growth(first) + growth(second);
    if (first == null && second == null) {
      return bytes;
    }
    byte[] result = new byte[length];
    int copied = 0;
    int written = 0;
    for (Splice splice : new @Nullable Splice[] {first, second}) {
      if (splice != null) {
        System.arraycopy(bytes, copied, result, written, splice.from - copied);
        written += splice.from - copied;
        System.arraycopy(splice.with, 0, result, written, splice.with.length);
        written += splice.with.length;
        copied = splice.to;
      }
    }
    System.arraycopy(bytes, copied, result, written, bytes.length - copied);
    return result;
  }

  private static int growth(@Nullable Splice splice) {
    return splice == null ? 0 : splice.with.length - (splice.to - splice.from);
  }
}
