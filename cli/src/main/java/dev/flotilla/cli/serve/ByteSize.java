package dev.flotilla.cli.serve;

import dev.flotilla.cli.output.Text;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads a number of bytes: {@code 512M}, {@code 1.5G}; M and G are binary. */
final class ByteSize implements ITypeConverter<Long> {
  private static final Pattern FORM = Pattern.compile("(\\d{1,9}(?:\\.\\d{1,3})?)(M|G)I?B?");

  @Override
  public Long convert(String text) {
    Matcher matcher = FORM.matcher(text.strip().toUpperCase(Locale.ROOT));
    if (!matcher.matches()) {
      throw new TypeConversionException(
          "'" + Text.printable(text) + "' is no size, such as 512M or 1.5G");
    }
    long unit = matcher.group(2).equals("M") ? 1L << 20 : 1L << 30;
    return (long) (Double.parseDouble(matcher.group(1)) * unit);
  }
}
