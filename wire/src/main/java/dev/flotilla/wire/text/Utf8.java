package dev.flotilla.wire.text;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Whether bytes are UTF-8, as RFC 3629 has it: no overlong forms, no surrogates, nothing beyond
 * U+10FFFF.
 */
public final class Utf8 {
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
  private static final long HIGH_BITS = 0x8080808080808080L;

  private Utf8() {}

  /** Whether those bytes are whole characters and nothing else. */
  public static boolean isValid(byte[] bytes, int start, int length) {
    int end = start + length;
    int at = start;
    while (at < end) {
      while (at <= end - 8 && ((long) LONGS.get(bytes, at) & HIGH_BITS) == 0) {
        at += 8;
      }
      if (at == end) {
        return true;
      }
      int size = sequence(bytes, at, end);
      if (size == 0) {
        return false;
      }
      at += size;
    }
    return true;
  }

  /** Bytes of the character that begins there, 0 where none does. */
  private static int sequence(byte[] bytes, int at, int end) {
    int first = bytes[at] & 0xff;
    if (first < 0x80) {
      return 1;
    }
    if (first < 0xc2 || first > 0xf4) {
      return 0;
    }
    int size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (end - at < size) {
      return 0;
    }
    int second = bytes[at + 1] & 0xff;
    int low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    int high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (second < low || second > high) {
      return 0;
    }
    for (int i = 2; i < size; i++) {
      if ((bytes[at + i] & 0xc0) != 0x80) {
        return 0;
      }
    }
    return size;
  }
}
