package dev.flotilla.hub.proof;

import java.time.Duration;

/**
 * Whether one worker's live answers are slower than promised, and have been for a while. Pure, but
 * for what it remembers; not safe for several threads.
 *
 * <p>A weighted mean of the answers' speeds, each as it would have been alone and behind a short
 * prompt. Below {@link #SICK_SHARE} of the floor a time begins, which ends only when the mean is at
 * the floor again: a speed that hovers between the two changes nothing.
 */
final class SpeedHealth {
  static final double SICK_SHARE = 0.9;
  private static final double WEIGHT = 0.4;

  private final Duration window;
  private final int samplesMin;
  private double mean;
  private boolean sick;
  private long sickSince;
  private int samples;

  SpeedHealth(Duration window, int samplesMin) {
    this.window = window;
    this.samplesMin = samplesMin;
  }

  /**
   * Takes in one answer.
   *
   * @param speed tokens a second, as it would have been alone
   * @param floor what is promised
   * @return whether it was too slow for long enough
   */
  boolean isSick(double speed, double floor, long nowNanos) {
    mean = mean == 0 ? speed : mean + WEIGHT * (speed - mean);
    if (!sick && mean < SICK_SHARE * floor) {
      sick = true;
      sickSince = nowNanos;
      samples = 0;
    } else if (mean >= floor) {
      sick = false;
    }
    samples++;
    return sick && samples >= samplesMin && nowNanos - sickSince >= window.toNanos();
  }

  /** Whether it is within what is promised, hysteresis included. */
  boolean isWell() {
    return !sick;
  }

  double mean() {
    return mean;
  }
}
