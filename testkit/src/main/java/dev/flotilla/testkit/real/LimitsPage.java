package dev.flotilla.testkit.real;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** {@code docs/limits.md} as tests read it: its rows begin with what the code says. */
public final class LimitsPage {
  private LimitsPage() {}

  /**
   * The beginnings of rows that the page should have for a record of limits and has not.
   *
   * @param varying components whose default depends on the machine: only their name is looked for
   */
  public static List<String> missing(Record limits, Set<String> varying) {
    String page = page();
    String section = section(page, limits);
    List<String> missing = new ArrayList<>();
    for (RecordComponent component : limits.getClass().getRecordComponents()) {
      String name = "| `" + component.getName() + "` | ";
      String row = varying.contains(component.getName()) ? name : name + value(limits, component);
      if (!section.contains(row)) {
        missing.add(row);
      }
    }
    return missing;
  }

  /** Two records may share a simple name: all their sections count. */
  private static String section(String page, Record limits) {
    String heading = "## " + limits.getClass().getSimpleName() + " ";
    StringBuilder sections = new StringBuilder();
    for (int begin = page.indexOf(heading); begin >= 0; begin = page.indexOf(heading, begin + 1)) {
      int end = page.indexOf("\n## ", begin);
      sections.append(end < 0 ? page.substring(begin) : page.substring(begin, end));
    }
    return sections.toString();
  }

  private static String page() {
    try {
      Path here = Path.of("").toAbsolutePath();
      Path page = Path.of("docs", "limits.md");
      Path parent = here.getParent();
      return Files.readString(
          Files.exists(here.resolve(page)) || parent == null
              ? here.resolve(page)
              : parent.resolve(page));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String value(Record limits, RecordComponent component) {
    try {
      Object value = component.getAccessor().invoke(limits);
      return switch (value) {
        case Duration time -> words(time);
        case Record several ->
            String.join(
                ", ",
                Arrays.stream(several.getClass().getRecordComponents())
                    .map(each -> value(several, each))
                    .distinct()
                    .toList());
        case Number number when component.getName().toLowerCase(Locale.ROOT).contains("bytes") ->
            bytes(number.longValue());
        case Number number -> String.format(Locale.ROOT, "%,d", number.longValue());
        default -> throw new IllegalStateException(component + " is no limit that is known here");
      };
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("can't read " + component, e);
    }
  }

  private static String words(Duration time) {
    long millis = time.toMillis();
    if (millis % 1000 != 0) {
      return millis + " ms";
    }
    if (millis % 3_600_000 == 0) {
      return millis / 3_600_000 + " h";
    }
    return millis % 60_000 == 0 && millis > 60_000
        ? millis / 60_000 + " min"
        : millis / 1000 + " s";
  }

  private static String bytes(long count) {
    if (count % (1L << 30) == 0) {
      return (count >> 30) + " GiB";
    }
    if (count % (1L << 20) == 0) {
      return (count >> 20) + " MiB";
    }
    return count % (1L << 10) == 0 ? (count >> 10) + " KiB" : count + " B";
  }
}
