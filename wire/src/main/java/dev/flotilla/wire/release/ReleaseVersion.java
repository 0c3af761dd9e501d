package dev.flotilla.wire.release;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Which of two versions of flotilla is the newer one: {@code 0.1.0+412.g4cad8a3} is the project's
 * version, the number of commits and the commit. A version without commits is older than each with
 * some; the commit itself orders nothing.
 */
public final class ReleaseVersion {
  /** Characters of a version's name, which any file system takes. */
  public static final int CHARS_MAX = 64;

  private static final int PARTS = 4;
  private static final Pattern FORM =
      Pattern.compile(
          "(\\d{1,6}(?:\\.\\d{1,6}){0,3})(?:\\+(\\d{1,9})(?:\\.[A-Za-z0-9.-]{1,32})?)?");

  private ReleaseVersion() {}

  /** Whether the text is a version. */
  public static boolean isOne(String text) {
    return numbers(text).isPresent();
  }

  /** Whether {@code running} is older than {@code offered}; false where either is no version. */
  public static boolean isOlder(String running, String offered) {
    return isOne(running) && isOne(offered) && compare(running, offered) < 0;
  }

  /**
   * By age, the older one first.
   *
   * @throws IllegalArgumentException where either is no version
   */
  public static int compare(String one, String other) {
    List<Long> left = numbers(one).orElseThrow(() -> new IllegalArgumentException(one));
    List<Long> right = numbers(other).orElseThrow(() -> new IllegalArgumentException(other));
    for (int i = 0; i < left.size(); i++) {
      int order = Long.compare(left.get(i), right.get(i));
      if (order != 0) {
        return order;
      }
    }
    return 0;
  }

  /** The project's version in four parts, then the number of commits. */
  private static Optional<List<Long>> numbers(String text) {
    Matcher form = FORM.matcher(text);
    if (text.length() > CHARS_MAX || !form.matches()) {
      return Optional.empty();
    }
    List<Long> numbers = new ArrayList<>();
    for (String part : form.group(1).split("\\.", -1)) {
      numbers.add(Long.valueOf(part));
    }
    while (numbers.size() < PARTS) {
      numbers.add(0L);
    }
    numbers.add(form.group(2) == null ? 0L : Long.parseLong(form.group(2)));
    return Optional.of(numbers);
  }
}
