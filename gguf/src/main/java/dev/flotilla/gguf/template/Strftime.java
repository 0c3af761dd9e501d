package dev.flotilla.gguf.template;

import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** Dates as C's {@code strftime} writes them in the C locale. */
final class Strftime {
  private Strftime() {}

  static String format(String format, ZonedDateTime time) {
    StringBuilder out = new StringBuilder();
    for (int at = 0; at < format.length(); at++) {
      char c = format.charAt(at);
      if (c != '%' || at + 1 == format.length()) {
        out.append(c);
        continue;
      }
      char code = format.charAt(++at);
      boolean unpadded = code == '-' && at + 1 < format.length();
      if (unpadded) {
        code = format.charAt(++at);
      }
      String field = field(code, time);
      out.append(unpadded ? unpadded(field) : field);
    }
    return out.toString();
  }

  private static String unpadded(String field) {
    int start = 0;
    while (start < field.length() - 1 && field.charAt(start) == '0') {
      start++;
    }
    return field.substring(start);
  }

  private static String field(char code, ZonedDateTime time) {
    return switch (code) {
      case 'a' -> written("EEE", time);
      case 'A' -> written("EEEE", time);
      case 'b', 'h' -> written("MMM", time);
      case 'B' -> written("MMMM", time);
      case 'c' -> format("%a %b %e %H:%M:%S %Y", time);
      case 'd' -> written("dd", time);
      case 'D', 'x' -> format("%m/%d/%y", time);
      case 'e' -> "%2d".formatted(time.getDayOfMonth());
      case 'f' -> written("SSSSSS", time);
      case 'F' -> format("%Y-%m-%d", time);
      case 'H' -> written("HH", time);
      case 'I' -> written("hh", time);
      case 'j' -> written("DDD", time);
      case 'm' -> written("MM", time);
      case 'M' -> written("mm", time);
      case 'n' -> "\n";
      case 'p' -> time.getHour() < 12 ? "AM" : "PM";
      case 'R' -> format("%H:%M", time);
      case 's' -> Long.toString(time.toEpochSecond());
      case 'S' -> written("ss", time);
      case 't' -> "\t";
      case 'T', 'X' -> format("%H:%M:%S", time);
      case 'u' -> Integer.toString(time.getDayOfWeek().getValue());
      case 'w' -> Integer.toString(time.getDayOfWeek().getValue() % 7);
      case 'y' -> "%02d".formatted(Math.floorMod(time.getYear(), 100));
      case 'Y' -> Integer.toString(time.getYear());
      case 'z' -> written("xx", time);
      case 'Z' -> written("zzz", time);
      case '%' -> "%";
      default -> "%" + code;
    };
  }

  private static String written(String pattern, ZonedDateTime time) {
    return DateTimeFormatter.ofPattern(pattern, Locale.ENGLISH).format(time);
  }
}
