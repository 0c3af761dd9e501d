package dev.flotilla.hub.routing;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * How fast each target reads a prompt and writes an answer of each model, learned from finished
 * requests.
 *
 * <p>Everything is per token, so that long answers do not look like slow workers. The speed of an
 * answer is kept apart for bands of concurrency (1, 2, 3–4, 5–8, 9–16, more), because engines
 * differ widely in what a second request costs the first: a graphics card hardly notices, two
 * processor cores halve. A band without samples is guessed from the nearest one.
 *
 * <p>Each value is an exponentially weighted mean (weight {@value #WEIGHT} for a new sample). A
 * value ages towards the neutral one with a half-life of ten minutes: a target that was slow once
 * is tried again.
 *
 * <p>A target without samples is given the mean of the others of its model: it neither attracts nor
 * repels.
 *
 * <p>Concurrency: any thread; a sample locks its own entry only.
 */
public final class Speeds {
  private static final double WEIGHT = 0.3;

  /** Where nothing at all is known; equal for all, so only sums with other seconds matter. */
  static final double PREFILL_DEFAULT = 500;

  static final double DECODE_DEFAULT = 20;
  static final double OUTPUT_DEFAULT = 256;

  /** Shorter ones measure latency, not speed. */
  static final int DECODE_TOKENS_MIN = 8;

  static final int PREFILL_TOKENS_MIN = 16;

  /** What one more request costs each of the others where nothing is measured. */
  private static final double CONTENTION = 0.27;

  private static final double HALF_LIFE_NANOS = 600e9;
  private static final int[] BAND_MIDDLE = {1, 2, 4, 8, 16, 32};

  private final Map<Key, Speed> speeds = new ConcurrentHashMap<>();
  private final Map<String, Double> outputs = new ConcurrentHashMap<>();

  private record Key(String model, String target) {}

  private static final class Speed {
    private double prefill;
    private final double[] decode = new double[BAND_MIDDLE.length];
    private double last;
    private long atNanos;

    synchronized void learn(double prefillSample, double decodeSample, int band, long nowNanos) {
      if (prefillSample > 0) {
        prefill = mean(prefill, prefillSample);
      }
      if (decodeSample > 0) {
        decode[band] = mean(decode[band], decodeSample);
        last = mean(last, decodeSample);
      }
      atNanos = nowNanos;
    }

    synchronized void seed(
        double prefillMeasured, Map<Integer, Double> decodeMeasured, long nowNanos) {
      if (prefillMeasured > 0) {
        prefill = prefillMeasured;
      }
      decodeMeasured.forEach((concurrency, speed) -> decode[band(concurrency)] = speed);
      if (last == 0 && decodeMeasured.containsKey(1)) {
        last = decodeMeasured.get(1);
      }
      atNanos = nowNanos;
    }

    private static double mean(double old, double sample) {
      return old == 0 ? sample : old + WEIGHT * (sample - old);
    }

    synchronized double prefill() {
      return prefill;
    }

    synchronized double lastDecode() {
      return last;
    }

    synchronized double decode(int concurrency) {
      int band = band(concurrency);
      for (int distance = 0; distance < decode.length; distance++) {
        int other = known(band - distance) ? band - distance : band + distance;
        if (known(other)) {
          return decode[other] * contention(BAND_MIDDLE[other]) / contention(BAND_MIDDLE[band]);
        }
      }
      return 0;
    }

    private boolean known(int band) {
      return band >= 0 && band < decode.length && decode[band] > 0;
    }

    synchronized double trust(long nowNanos) {
      return Math.pow(0.5, Math.max(0, nowNanos - atNanos) / HALF_LIFE_NANOS);
    }
  }

  private static double contention(int concurrency) {
    return 1 + CONTENTION * (concurrency - 1);
  }

  private static int band(int concurrency) {
    int band = 0;
    while (band < BAND_MIDDLE.length - 1 && concurrency > BAND_MIDDLE[band]) {
      band++;
    }
    return band;
  }

  /**
   * Learns from one finished request.
   *
   * @param promptTokens prompt tokens that were computed, not taken from a cache; -1 where unknown
   * @param firstTokenNanos from sending to the first token, -1 where there was no stream to see it
   * @param completionTokens tokens of the answer, -1 where unknown
   * @param decodeNanos from the first token to the last; for a whole reply the whole time
   * @param concurrency requests in flight on the target when it began
   */
  public void learn(
      Target target,
      int promptTokens,
      long firstTokenNanos,
      int completionTokens,
      long decodeNanos,
      int concurrency,
      long nowNanos) {
    double prefill =
        promptTokens >= PREFILL_TOKENS_MIN && firstTokenNanos > 0
            ? promptTokens * 1e9 / firstTokenNanos
            : 0;
    double decode =
        completionTokens >= DECODE_TOKENS_MIN && decodeNanos > 0
            ? completionTokens * 1e9 / decodeNanos
            : 0;
    if (prefill > 0 || decode > 0) {
      speeds
          .computeIfAbsent(new Key(target.model(), target.name()), key -> new Speed())
          .learn(prefill, decode, band(concurrency), nowNanos);
    }
    if (completionTokens > 0) {
      outputs.merge(
          target.model(),
          (double) completionTokens,
          (old, sample) -> old + WEIGHT * (sample - old));
    }
  }

  /**
   * Takes over what a proof measured, as if it had been learned just now; samples that follow count
   * as they always do.
   *
   * @param prefill tokens of a prompt a second, 0 where it was not measured
   * @param decode tokens of one answer a second, by requests at once
   */
  public void seed(Target target, double prefill, Map<Integer, Double> decode, long nowNanos) {
    if (prefill > 0 || !decode.isEmpty()) {
      speeds
          .computeIfAbsent(new Key(target.model(), target.name()), key -> new Speed())
          .seed(prefill, decode, nowNanos);
    }
  }

  /** The means of the targets that have samples: what is believed of one that has none. */
  record Neutral(double prefill, double decodeAlone) {}

  Neutral neutral(List<Target> among) {
    double prefill = 0;
    double decode = 0;
    int prefills = 0;
    int decodes = 0;
    for (Target target : among) {
      Speed speed = speeds.get(new Key(target.model(), target.name()));
      if (speed == null) {
        continue;
      }
      if (speed.prefill() > 0) {
        prefill += speed.prefill();
        prefills++;
      }
      if (speed.decode(1) > 0) {
        decode += speed.decode(1);
        decodes++;
      }
    }
    return new Neutral(
        prefills == 0 ? PREFILL_DEFAULT : prefill / prefills,
        decodes == 0 ? DECODE_DEFAULT : decode / decodes);
  }

  /**
   * Expected seconds of a request on a target, without waiting.
   *
   * @param concurrency requests in flight on the target with this one
   */
  double expectedSeconds(
      Target target, RequestNeeds needs, int concurrency, Neutral neutral, long nowNanos) {
    Speed own = speeds.get(new Key(target.model(), target.name()));
    double trust = own == null ? 0 : own.trust(nowNanos);
    double prefill = blend(own == null ? 0 : own.prefill(), neutral.prefill(), trust);
    double decode =
        blend(
            own == null ? 0 : own.decode(concurrency),
            neutral.decodeAlone() / contention(concurrency),
            trust);
    return needs.promptTokens() / prefill + expectedOutput(target.model(), needs) / decode;
  }

  private double expectedOutput(String model, RequestNeeds needs) {
    if (needs.capability() == Target.Capability.EMBEDDINGS) {
      return 0;
    }
    double output = outputs.getOrDefault(model, OUTPUT_DEFAULT);
    return needs.outputTokensMax() > 0 ? Math.min(output, needs.outputTokensMax()) : output;
  }

  private static double blend(double learned, double neutral, double trust) {
    return learned == 0 ? neutral : neutral + (learned - neutral) * trust;
  }

  /** Learned speed of reading a prompt, tokens a second, 0 before the first sample. */
  public double prefillTokensPerSecond(Target target) {
    Speed speed = speeds.get(new Key(target.model(), target.name()));
    return speed == null ? 0 : speed.prefill();
  }

  /** Learned speed of an answer at the concurrency of late, tokens a second, 0 before the first. */
  public double decodeTokensPerSecond(Target target) {
    Speed speed = speeds.get(new Key(target.model(), target.name()));
    return speed == null ? 0 : speed.lastDecode();
  }

  /** Forgets targets and models that left the fleet. */
  void retain(Set<String> targets, Set<String> models) {
    speeds.keySet().removeIf(key -> !targets.contains(key.target()));
    outputs.keySet().retainAll(models);
  }
}
