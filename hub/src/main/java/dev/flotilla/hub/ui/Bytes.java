package dev.flotilla.hub.ui;

import java.util.Locale;

/** Sizes as people read them: powers of 1024, three digits or so. */
final class Bytes {
  private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB"};

  private Bytes() {}

  static String text(long bytes) {
    double size = Math.max(0, bytes);
    int unit = 0;
    while (size >= 1023.95 && unit < UNITS.length - 1) {
      size /= 1024;
      unit++;
    }
    return unit == 0
        ? (long) size + " B"
        : String.format(Locale.ROOT, size < 99.95 ? "%.1f %s" : "%.0f %s", size, UNITS[unit]);
  }
}
