package dev.flotilla.hub.spec;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Sizes such as {@code 32 MiB}, durations such as {@code 120s} and speeds such as {@code 20 tok/s},
 * read and written.
 */
final class Quantity {

  private static final Pattern FORM = Pattern.compile("([0-9]{1,12}) ?([A-Za-z]+)");
  private static final Map<String, Long> BYTES =
      Map.of("B", 1L, "KiB", 1L << 10, "MiB", 1L << 20, "GiB", 1L << 30);
  private static final Map<String, Long> MILLIS =
      Map.of("ms", 1L, "s", 1_000L, "m", 60_000L, "h", 3_600_000L);

  private static final Pattern SPEED = Pattern.compile("([0-9]{1,6}(?:\\.[0-9]{1,2})?) ?tok/s");

  private Quantity() {}

  /** Tokens a second. */
  static OptionalDouble speed(Value value, double most) {
    Matcher form = SPEED.matcher(value.raw().orElse(""));
    if (!form.matches()) {
      value.problem("a speed is needed here, such as `20 tok/s`, not %s".formatted(value.shown()));
      return OptionalDouble.empty();
    }
    double speed = Double.parseDouble(form.group(1));
    if (speed == 0 || speed > most) {
      value.problem(
          "%s is out of range: more than 0, at most %s".formatted(value.shown(), ofSpeed(most)));
      return OptionalDouble.empty();
    }
    return OptionalDouble.of(speed);
  }

  static String ofSpeed(double tokensPerSecond) {
    return new BigDecimal(String.format(Locale.ROOT, "%.2f", tokensPerSecond))
            .stripTrailingZeros()
            .toPlainString()
        + " tok/s";
  }

  static String ofDecimal(double number) {
    return BigDecimal.valueOf(number).toPlainString();
  }

  static OptionalLong bytes(Value value, long least, long most) {
    return read(value, BYTES, "32 MiB", least, most, Quantity::ofBytes);
  }

  static Optional<Duration> duration(Value value, Duration least, Duration most) {
    OptionalLong millis =
        read(
            value,
            MILLIS,
            "120s",
            least.toMillis(),
            most.toMillis(),
            number -> ofDuration(Duration.ofMillis(number)));
    return millis.isPresent()
        ? Optional.of(Duration.ofMillis(millis.getAsLong()))
        : Optional.empty();
  }

  private static OptionalLong read(
      Value value,
      Map<String, Long> units,
      String example,
      long least,
      long most,
      java.util.function.LongFunction<String> written) {
    Matcher form = FORM.matcher(value.raw().orElse(""));
    Long unit = form.matches() ? units.get(form.group(2)) : null;
    if (unit == null) {
      value.problem(
          "a number with a unit is needed here, such as `%s`, not %s"
              .formatted(example, value.shown()));
      return OptionalLong.empty();
    }
    long amount = Long.parseLong(form.group(1));
    // A dozen digits times the largest unit may pass what a long holds.
    if (amount > most / unit || amount * unit < least) {
      value.problem(
          "%s is out of range: %s to %s"
              .formatted(value.shown(), written.apply(least), written.apply(most)));
      return OptionalLong.empty();
    }
    return OptionalLong.of(amount * unit);
  }

  static String ofBytes(long bytes) {
    return largest(bytes, BYTES, List.of("GiB", "MiB", "KiB", "B"), " ");
  }

  static String ofDuration(Duration duration) {
    return largest(duration.toMillis(), MILLIS, List.of("h", "m", "s", "ms"), "");
  }

  /** In the largest unit that leaves a whole number. */
  private static String largest(
      long amount, Map<String, Long> units, List<String> names, String between) {
    for (String name : names) {
      long unit = units.getOrDefault(name, 1L);
      if (amount % unit == 0 && amount > 0) {
        return amount / unit + between + name;
      }
    }
    return amount + between + names.getLast();
  }
}
