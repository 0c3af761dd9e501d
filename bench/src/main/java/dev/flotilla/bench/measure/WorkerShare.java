package dev.flotilla.bench.measure;

/**
 * What one worker did of a run, as the replies' headers tell.
 *
 * @param worker its name; {@code (not said)} for replies that name none
 * @param completed requests that it answered whole
 * @param failed requests that failed after it was named
 * @param outputTokens tokens of the whole answers
 * @param outputThroughput these for each second of the run
 * @param ttft milliseconds
 * @param tpot milliseconds
 * @param e2el milliseconds
 */
public record WorkerShare(
    String worker,
    int completed,
    int failed,
    long outputTokens,
    double outputThroughput,
    Stats ttft,
    Stats tpot,
    Stats e2el) {
  /** Name for requests whose replies name no worker. */
  public static final String UNNAMED = "(not said)";
}
