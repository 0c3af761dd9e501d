package dev.flotilla.hub.reports;

/**
 * What one report may hold.
 *
 * @param bodyBytes the request that brings it: 12 MiB
 * @param htmlBytes its page: 8 MiB
 * @param summaryBytes its summary as JSON: 1 MiB
 * @param kindCharacters the word for what made it: 32
 * @param titleCharacters its title, and the model's name: 200
 * @param figures figures that lists show: 12
 * @param figureCharacters a figure's name, and its value: 60
 * @param atOnce reports that are taken in at the same time: 4
 */
public record ReportLimits(
    int bodyBytes,
    int htmlBytes,
    int summaryBytes,
    int kindCharacters,
    int titleCharacters,
    int figures,
    int figureCharacters,
    int atOnce) {

  public static final ReportLimits DEFAULT =
      new ReportLimits(12 << 20, 8 << 20, 1 << 20, 32, 200, 12, 60, 4);
}
