package dev.flotilla.cli.output;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads an option's whole number, which has a least and a most. */
public abstract class WholeNumber implements ITypeConverter<Integer> {
  private final int least;
  private final int most;

  protected WholeNumber(int least, int most) {
    this.least = least;
    this.most = most;
  }

  @Override
  public final Integer convert(String text) {
    try {
      int number = Integer.parseInt(text.strip());
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Said below, as for a number out of range.
    }
    throw new TypeConversionException(
        "'"
            + Text.printable(text)
            + "' is not a whole number from "
            + least
            + (most == Integer.MAX_VALUE ? " on" : " to " + most));
  }
}
