package dev.flotilla.cli.output;

import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads an option's instant: one in RFC 3339, or how long ago it was. */
public final class Since implements ITypeConverter<Instant> {
  private static final Pattern AGO = Pattern.compile("(\\d{1,6})([mhd])");

  @Override
  public Instant convert(String text) {
    Matcher ago = AGO.matcher(text);
    if (ago.matches()) {
      long count = Long.parseLong(ago.group(1));
      return Instant.now()
          .minus(
              switch (ago.group(2)) {
                case "m" -> Duration.ofMinutes(count);
                case "h" -> Duration.ofHours(count);
                default -> Duration.ofDays(count);
              });
    }
    try {
      return Instant.parse(text);
    } catch (DateTimeParseException e) {
      throw new TypeConversionException(
          "'"
              + Text.printable(text)
              + "' is neither a time ago, such as 24h or 7d, nor an instant, such as"
              + " 2026-03-01T08:00:00Z");
    }
  }
}
