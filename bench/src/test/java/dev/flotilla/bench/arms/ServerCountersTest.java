package dev.flotilla.bench.arms;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** What servers count of their own work. */
final class ServerCountersTest {
  @Test
  void llamaServerCountsTokens() {
    ServerCounters counters =
        read(
            """
            # HELP llamacpp:prompt_tokens_total Number of prompt tokens processed.
            # TYPE llamacpp:prompt_tokens_total counter
            llamacpp:prompt_tokens_total 1200
            llamacpp:tokens_predicted_total 3.4e+02
            llamacpp:predicted_tokens_seconds nan
            """);
    assertThat(counters)
        .isEqualTo(new ServerCounters("llama-server", OptionalLong.empty(), 1200, 340));
  }

  @Test
  void vllmCountsRequestsTooByHowTheyEnded() {
    assertThat(
            read(
                """
                vllm:prompt_tokens_total{engine="0",model_name="m"} 10.0
                vllm:generation_tokens_total{engine="0",model_name="m"} 20.0
                vllm:request_success_total{engine="0",finished_reason="stop"} 3.0
                vllm:request_success_total{engine="0",finished_reason="length"} 4.0
                """))
        .isEqualTo(new ServerCounters("vllm", OptionalLong.of(7), 10, 20));
  }

  @Test
  void aHubCountsWhatWentThroughIt() {
    assertThat(
            read(
                """
                flotilla_queue_depth{gen_ai_request_model="m"} 0.0
                gen_ai_client_token_usage_sum{gen_ai_request_model="m",gen_ai_token_type="input"} 50.0
                gen_ai_client_token_usage_sum{gen_ai_request_model="m",gen_ai_token_type="output"} 60.0
                gen_ai_client_token_usage_count{gen_ai_request_model="m",gen_ai_token_type="input"} 5
                gen_ai_client_token_usage_count{gen_ai_request_model="m",gen_ai_token_type="output"} 5
                """))
        .isEqualTo(new ServerCounters("hub", OptionalLong.of(5), 50, 60));
  }

  @Test
  void ofAServerThatCountsNothingKnownNothingIsRead() {
    assertThat(ServerCounters.parse("{\"error\": 404}")).isEmpty();
    assertThat(ServerCounters.parse("up 1\n")).isEmpty();
  }

  @Test
  void aServerThatWasStartedAgainCountsFromZero() {
    ServerCounters before = new ServerCounters("vllm", OptionalLong.of(5), 100, 100);
    assertThat(new ServerCounters("vllm", OptionalLong.of(7), 130, 40).since(before))
        .isEqualTo(new ServerCounters("vllm", OptionalLong.of(2), 30, 40));
  }

  private static ServerCounters read(String text) {
    Optional<ServerCounters> counters = ServerCounters.parse(text);
    assertThat(counters).isPresent();
    return counters.orElseThrow();
  }
}
