package dev.flotilla.bench.arms;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a server counted of its own work, as its {@code /metrics} say: the other side of what the
 * client counted.
 *
 * @param server whose counters these are: {@code llama-server}, {@code vllm} or {@code hub}
 * @param requests that ended well; empty where the server counts none
 * @param promptTokens that it processed: fewer than were sent where it had some cached
 * @param generatedTokens that it generated
 */
public record ServerCounters(
    String server, OptionalLong requests, long promptTokens, long generatedTokens) {

  private static final Pattern SAMPLE =
      Pattern.compile("^([a-zA-Z_:][a-zA-Z0-9_:]*)(\\{[^}]*})?\\s+([0-9.eE+-]+)");

  /** Reads Prometheus' text form; empty where none of the counters that are known is in it. */
  public static Optional<ServerCounters> parse(String metrics) {
    Map<String, Double> sums = new HashMap<>();
    metrics
        .lines()
        .filter(line -> !line.startsWith("#"))
        .forEach(line -> {
          Matcher sample = SAMPLE.matcher(line);
          if (sample.find()) {
            sums.merge(key(sample), value(sample.group(3)), Double::sum);
          }
        });
    if (sums.containsKey("llamacpp:tokens_predicted_total")) {
      return Optional.of(
          new ServerCounters(
              "llama-server",
              OptionalLong.empty(),
              whole(sums, "llamacpp:prompt_tokens_total"),
              whole(sums, "llamacpp:tokens_predicted_total")));
    }
    if (sums.containsKey("vllm:generation_tokens_total")) {
      return Optional.of(
          new ServerCounters(
              "vllm",
              OptionalLong.of(whole(sums, "vllm:request_success_total")),
              whole(sums, "vllm:prompt_tokens_total"),
              whole(sums, "vllm:generation_tokens_total")));
    }
    if (sums.keySet().stream().anyMatch(name -> name.startsWith("flotilla_"))) {
      return Optional.of(
          new ServerCounters(
              "hub",
              OptionalLong.of(whole(sums, "gen_ai_client_token_usage_count output")),
              whole(sums, "gen_ai_client_token_usage_sum input"),
              whole(sums, "gen_ai_client_token_usage_sum output")));
    }
    return Optional.empty();
  }

  /** The name; of the hub's token counters with the kind of token. */
  private static String key(Matcher sample) {
    String name = sample.group(1);
    String labels = sample.group(2) == null ? "" : sample.group(2);
    if (!name.startsWith("gen_ai_client_token_usage")) {
      return name;
    }
    return name + (labels.contains("gen_ai_token_type=\"output\"") ? " output" : " input");
  }

  private static double value(String text) {
    try {
      double value = Double.parseDouble(text);
      return Double.isFinite(value) ? value : 0;
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  private static long whole(Map<String, Double> sums, String name) {
    return Math.round(sums.getOrDefault(name, 0.0));
  }

  /** What was done since an earlier reading. A server that was started again counts from 0. */
  public ServerCounters since(ServerCounters before) {
    OptionalLong made =
        requests.isPresent() && before.requests.isPresent()
            ? OptionalLong.of(since(requests.getAsLong(), before.requests.getAsLong()))
            : OptionalLong.empty();
    return new ServerCounters(
        server,
        made,
        since(promptTokens, before.promptTokens),
        since(generatedTokens, before.generatedTokens));
  }

  /** Both together. */
  public ServerCounters plus(ServerCounters more) {
    OptionalLong made =
        requests.isPresent() && more.requests.isPresent()
            ? OptionalLong.of(requests.getAsLong() + more.requests.getAsLong())
            : OptionalLong.empty();
    return new ServerCounters(
        server, made, promptTokens + more.promptTokens, generatedTokens + more.generatedTokens);
  }

  private static long since(long now, long before) {
    return now >= before ? now - before : now;
  }
}
