package dev.flotilla.hub.store;

import java.time.Instant;
import java.util.List;

/**
 * The head of a stored report of a measurement: what lists show of it.
 *
 * @param id grows by one with each report
 * @param at when it was stored
 * @param by who sent it
 * @param kind what made it: {@code bench}, {@code sweep}, {@code arms}, {@code engines}
 * @param title what was measured, in words
 * @param model the model's name, or several
 * @param figures the few that matter most, as they are shown
 * @param bytes size of its page and its summary together
 */
public record StoredReport(
    long id,
    Instant at,
    String by,
    String kind,
    String title,
    String model,
    List<Figure> figures,
    long bytes) {

  public StoredReport {
    figures = List.copyOf(figures);
  }

  /** One figure with its name and unit: {@code out tok/s}, {@code 812.4}. */
  public record Figure(String name, String value) {}
}
