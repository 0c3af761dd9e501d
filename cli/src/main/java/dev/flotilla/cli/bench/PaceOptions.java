package dev.flotilla.cli.bench;

import dev.flotilla.bench.dataset.Prompt;
import dev.flotilla.bench.load.Arrivals;
import dev.flotilla.bench.load.LoadLimits;
import dev.flotilla.bench.load.LoadPlan;
import dev.flotilla.bench.measure.Load;
import dev.flotilla.cli.output.Text;
import dev.flotilla.cli.output.WholeNumber;
import dev.flotilla.cli.output.WrongUsage;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** When requests go out, how many at once, and how long each may take. */
final class PaceOptions {
  /** More have no port to come from, towards one server. */
  static final int CONCURRENCY_MAX = 10_000;

  @Option(
      names = {"--max-concurrency", "--concurrency"},
      paramLabel = "N",
      converter = Concurrency.class,
      description =
          "Requests under way at once. Without a rate the next one goes out when one has ended"
              + " (default: no limit).")
  private @Nullable Integer concurrency;

  @Option(
      names = "--request-rate",
      paramLabel = "RPS",
      converter = Rate.class,
      description =
          "Requests a second, whatever the server's answers do; inf for all at once (default: inf,"
              + " a replay its own times).")
  private @Nullable Double rate;

  @Option(
      names = "--burstiness",
      paramLabel = "X",
      defaultValue = "1",
      converter = Rate.class,
      description =
          "Shape of the gaps between requests: 1 as by chance (Poisson), below it in bursts, inf"
              + " evenly (default: 1).")
  private double burstiness;

  @Option(
      names = "--ramp-up-strategy",
      paramLabel = "NAME",
      description = "linear or exponential: the rate grows from request to request.")
  private @Nullable String ramp;

  @Option(
      names = "--ramp-up-start-rps",
      paramLabel = "RPS",
      converter = Rate.class,
      description = "The rate that a ramp begins with.")
  private @Nullable Double rampStart;

  @Option(
      names = "--ramp-up-end-rps",
      paramLabel = "RPS",
      converter = Rate.class,
      description = "The rate that a ramp ends with.")
  private @Nullable Double rampEnd;

  @Option(
      names = "--num-warmups",
      paramLabel = "N",
      defaultValue = "0",
      converter = Warmups.class,
      description = "Requests before the clock starts, all with the first prompt (default: 0).")
  private int warmups;

  @Option(
      names = "--ready-check-timeout-sec",
      paramLabel = "SECONDS",
      defaultValue = "0",
      converter = Wait.class,
      description = "Waits so long for a first good answer, before anything else (default: 0).")
  private int readySeconds;

  @Option(
      names = "--time-limit",
      paramLabel = "SECONDS",
      converter = Seconds.class,
      description = "Ends the run after so long, with the results so far (default: none).")
  private @Nullable Integer timeLimit;

  @Option(
      names = "--first-token-timeout",
      paramLabel = "SECONDS",
      converter = Seconds.class,
      description = "How long a request may wait for its first output (default: 600).")
  private @Nullable Integer firstToken;

  @Option(
      names = "--gap-timeout",
      paramLabel = "SECONDS",
      converter = Seconds.class,
      description = "How long a stream may be silent after that (default: 300).")
  private @Nullable Integer gap;

  @Option(
      names = "--request-timeout",
      paramLabel = "SECONDS",
      converter = Seconds.class,
      description = "How long a request may take in all (default: 3600).")
  private @Nullable Integer whole;

  PaceOptions() {}

  /** 0 for no limit. */
  int concurrency() {
    return concurrency == null ? 0 : concurrency;
  }

  double burstiness() {
    return burstiness;
  }

  Duration ready() {
    return Duration.ofSeconds(readySeconds);
  }

  /** How the rate grows, where it does. */
  Optional<Load.Ramp> ramp() {
    return ramp == null || rampStart == null || rampEnd == null
        ? Optional.empty()
        : Optional.of(new Load.Ramp(ramp, rampStart, rampEnd));
  }

  LoadLimits limits() {
    LoadLimits usual = LoadLimits.DEFAULTS;
    return usual.within(
        firstToken == null ? usual.firstOutput() : Duration.ofSeconds(firstToken),
        gap == null ? usual.gap() : Duration.ofSeconds(gap),
        whole == null ? usual.whole() : Duration.ofSeconds(whole));
  }

  /** Says what can't be meant, before anything is asked of a server. */
  void check() {
    if (ramp == null && (rampStart != null || rampEnd != null)) {
      throw new WrongUsage("--ramp-up-start-rps and --ramp-up-end-rps need --ramp-up-strategy");
    }
    if (ramp == null) {
      return;
    }
    if (!ramp.equals("linear") && !ramp.equals("exponential")) {
      throw new WrongUsage(
          "--ramp-up-strategy: '" + Text.printable(ramp) + "' is not linear or exponential");
    }
    if (rate != null) {
      throw new WrongUsage("--request-rate and --ramp-up-strategy can't both set the rate");
    }
    if (rampStart == null || rampEnd == null) {
      throw new WrongUsage("--ramp-up-strategy needs --ramp-up-start-rps and --ramp-up-end-rps");
    }
    if (rampStart.isInfinite() || rampEnd.isInfinite() || rampEnd < rampStart) {
      throw new WrongUsage("--ramp-up-end-rps: a ramp ends at no lower a rate than it begins with");
    }
  }

  /** When these prompts go out. */
  LoadPlan plan(List<Prompt> prompts) {
    Arrivals arrivals = arrivals(prompts);
    if (arrivals instanceof Arrivals.AtOnce
        && concurrency == null
        && prompts.size() > CONCURRENCY_MAX) {
      throw new WrongUsage(
          "without --max-concurrency all "
              + prompts.size()
              + " requests go out at once, which is more than "
              + CONCURRENCY_MAX);
    }
    return new LoadPlan(
        arrivals, concurrency(), warmups, Optional.ofNullable(timeLimit).map(Duration::ofSeconds));
  }

  private Arrivals arrivals(List<Prompt> prompts) {
    if (ramp != null && rampStart != null && rampEnd != null) {
      return new Arrivals.RampUp(ramp.equals("exponential"), rampStart, rampEnd, burstiness);
    }
    if (rate != null && Double.isFinite(rate)) {
      return new Arrivals.Constant(rate, burstiness);
    }
    if (rate == null && prompts.stream().allMatch(prompt -> prompt.at().isPresent())) {
      return new Arrivals.Recorded(
          prompts.stream().map(prompt -> prompt.at().orElse(Duration.ZERO)).toList());
    }
    return new Arrivals.AtOnce();
  }

  /** The rate that a report says was asked for; a ramp's and a replay's is the mean. */
  static double configuredRate(LoadPlan plan, int requests) {
    return switch (plan.arrivals()) {
      case Arrivals.AtOnce() -> Double.POSITIVE_INFINITY;
      case Arrivals.Constant(double perSecond, double _) -> perSecond;
      case Arrivals.RampUp(boolean _, double start, double end, double _) -> (start + end) / 2;
      case Arrivals.Recorded(List<Duration> times) -> {
        double seconds = times.isEmpty() ? 0 : times.getLast().toNanos() / 1e9;
        yield seconds > 0 ? requests / seconds : Double.POSITIVE_INFINITY;
      }
    };
  }

  /** A limit of requests at once. */
  static final class Concurrency extends WholeNumber {
    Concurrency() {
      super(1, CONCURRENCY_MAX);
    }
  }

  /** Requests before the clock starts. */
  static final class Warmups extends WholeNumber {
    Warmups() {
      super(0, 10_000);
    }
  }

  /** A wait that may be none. */
  static final class Wait extends WholeNumber {
    Wait() {
      super(0, 24 * 3600);
    }
  }

  /** A limit of time. */
  static final class Seconds extends WholeNumber {
    Seconds() {
      super(1, 7 * 24 * 3600);
    }
  }

  /** A number above 0, or {@code inf}. */
  static final class Rate implements ITypeConverter<Double> {
    @Override
    public Double convert(String text) {
      if (text.strip().equals("inf")) {
        return Double.POSITIVE_INFINITY;
      }
      try {
        double number = Double.parseDouble(text.strip());
        if (number > 0 && Double.isFinite(number)) {
          return number;
        }
      } catch (NumberFormatException e) {
        // Said below, as for a number out of range.
      }
      throw new TypeConversionException(
          "'" + Text.printable(text) + "' is not a number above 0, or inf");
    }
  }
}
