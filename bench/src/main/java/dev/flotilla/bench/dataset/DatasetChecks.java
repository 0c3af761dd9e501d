package dev.flotilla.bench.dataset;

/** Ranges of options, in words. */
final class DatasetChecks {
  private DatasetChecks() {}

  static void within(String option, int value, int least, int most) throws DatasetRefused {
    if (value < least || value > most) {
      throw DatasetRefused.usage(
          option + ": a whole number from " + least + " to " + most + ", not " + value);
    }
  }
}
