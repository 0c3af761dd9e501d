package dev.flotilla.cli.bench;

/**
 * The platform threads that carry virtual ones, in a process that measures. The JVM has one for
 * each processor; where other programs want the processors too, one that the system sets aside
 * holds up every request that waits behind it, and the times of their arrivals with it. With two
 * for each processor another takes its place. On two cores, with 64 streams beside a busy build,
 * the time to first token as the client saw it was at p90 between half and a third; each event then
 * costs a fifth more processor time, and more carriers than that bought nothing.
 */
public final class Carriers {
  private static final String PARALLELISM = "jdk.virtualThreadScheduler.parallelism";
  private static final int EACH_PROCESSOR = 2;
  private static final int LEAST = 4;

  private Carriers() {}

  /**
   * Asks the JVM for more of them. To be called before the first virtual thread, whose start reads
   * the number; one that was set on the command line stays.
   */
  public static void more() {
    if (System.getProperty(PARALLELISM) == null) {
      int processors = Runtime.getRuntime().availableProcessors();
      System.setProperty(
          PARALLELISM, Integer.toString(Math.max(LEAST, EACH_PROCESSOR * processors)));
    }
  }
}
