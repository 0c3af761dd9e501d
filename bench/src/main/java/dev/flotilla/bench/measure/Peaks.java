package dev.flotilla.bench.measure;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * How many of some spans of time lie over one another.
 *
 * @param most at one moment; a span that ends when another begins does not lie over it
 * @param nanosAtMost how long just that many did
 * @param nanosTogether length of all spans together
 */
record Peaks(int most, long nanosAtMost, long nanosTogether) {

  /** Requests that were under way: from their sending to the end of their reply. */
  static Peaks open(List<Timing> timings) {
    return of(timings, t -> t.request().sentNanos());
  }

  /** Answers that were being generated: from their first chunk to the end of their reply. */
  static Peaks decoding(List<Timing> timings) {
    return of(timings, Timing::firstNanos);
  }

  private static Peaks of(List<Timing> timings, ToLongFunction<Timing> start) {
    long[] starts = timings.stream().mapToLong(start).sorted().toArray();
    long[] ends = timings.stream().mapToLong(t -> t.request().endNanos()).sorted().toArray();
    int most = 0;
    long nanosAtMost = 0;
    int started = 0;
    int ended = 0;
    long since = 0;
    while (ended < ends.length) {
      boolean starting = started < starts.length && starts[started] < ends[ended];
      long now = starting ? starts[started] : ends[ended];
      if (started - ended == most) {
        nanosAtMost += most == 0 ? 0 : now - since;
      }
      since = now;
      if (starting) {
        started++;
      } else {
        ended++;
      }
      if (started - ended > most) {
        most = started - ended;
        nanosAtMost = 0;
      }
    }
    return new Peaks(most, nanosAtMost, Arrays.stream(ends).sum() - Arrays.stream(starts).sum());
  }

  /** Chunks in the best second, in whole seconds since the first request was sent. */
  static double chunksInBestSecond(List<Timing> timings) {
    return bestSecond(timings, (timing, chunk) -> 1);
  }

  /** Tokens in the best second; only of answers whose tokens are known by chunk. */
  static double tokensInBestSecond(List<Timing> timings) {
    return bestSecond(
        timings,
        (timing, chunk) -> timing.tokens(chunk) - (chunk == 0 ? 0 : timing.tokens(chunk - 1)));
  }

  private static double bestSecond(List<Timing> timings, Weight weight) {
    long from = timings.stream().mapToLong(t -> t.request().sentNanos()).min().orElse(0);
    // No array: a file that was read may say any time.
    Map<Long, Long> seconds = new HashMap<>();
    for (Timing timing : timings) {
      Chunks chunks = timing.request().chunks();
      for (int chunk = 0; chunk < chunks.count(); chunk++) {
        long second = (chunks.nanos(chunk) - from) / 1_000_000_000L;
        seconds.merge(second, (long) weight.of(timing, chunk), Long::sum);
      }
    }
    return seconds.values().stream().mapToLong(Long::longValue).max().orElse(0);
  }

  private interface Weight {
    int of(Timing timing, int chunk);
  }
}
