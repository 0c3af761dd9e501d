package dev.flotilla.engine.serve;

import dev.flotilla.engine.Ending;
import dev.flotilla.engine.Engine;
import dev.flotilla.engine.EngineCounts;
import dev.flotilla.engine.Histogram;
import dev.flotilla.engine.model.KvLayout;

/** What the engine has done, for Prometheus, in vLLM's names where it means the same. */
final class MetricsPage {
  private final Engine engine;
  private final String labels;
  private final StringBuilder page = new StringBuilder(16 << 10);

  private MetricsPage(Engine engine, String model) {
    this.engine = engine;
    this.labels =
        "engine=\"0\",model_name=\""
            + model.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n")
            + "\"";
  }

  static String of(Engine engine, String model) {
    return new MetricsPage(engine, model).write();
  }

  private String write() {
    EngineCounts counts = engine.counts();
    gauge("num_requests_running", "Answers that are computed.", counts.running());
    gauge("num_requests_waiting", "Answers that wait for room.", counts.waiting());
    double used = 1 - counts.blocksFree() / (double) engine.blocks();
    gauge("kv_cache_usage_perc", "Part of the cache's blocks that is held, 0 to 1.", used);
    head("cache_config_info", "gauge", "The cache's size.");
    page.append("vllm:cache_config_info{").append(labels);
    page.append(",block_size=\"").append(KvLayout.PAGE_TOKENS);
    page.append("\",num_gpu_blocks=\"").append(engine.blocks());
    page.append("\",kv_cache_size_tokens=\"").append(engine.blocks() * KvLayout.PAGE_TOKENS);
    page.append("\"} 1\n");
    counter("num_preemptions", "Answers whose blocks were taken.", counts.preemptions());
    counter("prefix_cache_queries", "Tokens looked for in the cache.", counts.queriedTokens());
    counter("prefix_cache_hits", "Tokens that the cache had.", counts.cachedTokens());
    counter("prompt_tokens", "Tokens of prompts.", counts.promptTokens());
    counter("prompt_tokens_cached", "Tokens of prompts not computed.", counts.cachedTokens());
    counter("generation_tokens", "Tokens of answers.", counts.generatedTokens());
    head("request_success_total", "counter", "Answers that ended, by how.");
    ended("stop", counts.ended(Ending.STOP));
    ended("length", counts.ended(Ending.LENGTH));
    ended("abort", counts.ended(Ending.CANCELLED));
    ended("error", counts.ended(Ending.FAILED));
    head("admission_rejections_total", "counter", "Requests refused because many were there.");
    page.append("vllm:admission_rejections_total{").append(labels);
    page.append(",reason=\"max_num_queued_reqs\"} ").append(counts.refused()).append('\n');
    head("flotilla:", "engine_steps_total", "counter", "Steps that computed something.");
    page.append("flotilla:engine_steps_total{").append(labels).append("} ");
    page.append(counts.steps()).append('\n');
    histogram("time_to_first_token_seconds", "Arrival to first token.", counts.timeToFirstToken());
    histogram("inter_token_latency_seconds", "From token to token.", counts.interToken());
    histogram(
        "request_time_per_output_token_seconds",
        "Of an answer, each token after the first.",
        counts.timePerToken());
    histogram("e2e_request_latency_seconds", "Arrival to end.", counts.endToEnd());
    histogram("request_queue_time_seconds", "Arrival to admission.", counts.queued());
    histogram("request_prefill_time_seconds", "Admission to first token.", counts.prefill());
    histogram("request_decode_time_seconds", "First token to last.", counts.decode());
    return page.toString();
  }

  private void head(String name, String type, String help) {
    head("vllm:", name, type, help);
  }

  private void head(String prefix, String name, String type, String help) {
    page.append("# HELP ").append(prefix).append(name).append(' ').append(help).append('\n');
    page.append("# TYPE ").append(prefix).append(name).append(' ').append(type).append('\n');
  }

  private void gauge(String name, String help, double value) {
    head(name, "gauge", help);
    line(name, "", value);
  }

  private void counter(String name, String help, long value) {
    head(name + "_total", "counter", help);
    line(name + "_total", "", (double) value);
  }

  private void ended(String reason, long count) {
    line("request_success_total", ",finished_reason=\"" + reason + "\"", (double) count);
  }

  private void histogram(String name, String help, Histogram values) {
    head(name, "histogram", help);
    for (int i = 0; i < values.bounds(); i++) {
      line(name + "_bucket", ",le=\"" + values.bound(i) + "\"", (double) values.upTo(i));
    }
    line(name + "_bucket", ",le=\"+Inf\"", (double) values.upTo(values.bounds()));
    line(name + "_count", "", (double) values.upTo(values.bounds()));
    line(name + "_sum", "", values.sum());
  }

  private void line(String name, String more, double value) {
    page.append("vllm:").append(name).append('{').append(labels).append(more).append("} ");
    page.append(value).append('\n');
  }
}
