package dev.flotilla.bench.report;

import dev.flotilla.bench.measure.Chunks;
import dev.flotilla.bench.measure.RequestRecord;
import dev.flotilla.bench.measure.RequestRecord.Outcome;
import java.util.List;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The lists of {@code --save-detailed}: one element for each request, times in seconds. */
final class FieldDetails {
  private FieldDetails() {}

  static void write(ObjectNode json, List<RequestRecord> requests) {
    ArrayNode inputLens = json.putArray("input_lens");
    ArrayNode outputLens = json.putArray("output_lens");
    ArrayNode ttfts = json.putArray("ttfts");
    ArrayNode itls = json.putArray("itls");
    ArrayNode latencies = json.putArray("latencies");
    ArrayNode startTimes = json.putArray("start_times");
    ArrayNode texts = json.putArray("generated_texts");
    ArrayNode errors = json.putArray("errors");
    for (RequestRecord request : requests) {
      Chunks chunks = request.chunks();
      inputLens.add(Math.max(0, request.inputTokens()));
      outputLens.add(request.succeeded() ? request.outputTokens() : 0);
      ttfts.add(chunks.count() == 0 ? 0 : seconds(chunks.nanos(0) - request.scheduledNanos()));
      ArrayNode gaps = itls.addArray();
      for (int chunk = 1; chunk < chunks.count(); chunk++) {
        gaps.add(seconds(chunks.nanos(chunk) - chunks.nanos(chunk - 1)));
      }
      latencies.add(seconds(request.endNanos() - request.scheduledNanos()));
      startTimes.add(seconds(request.scheduledNanos()));
      texts.add(request.output());
      errors.add(request.outcome() instanceof Outcome.Failed failed ? failed.message() : "");
    }
  }

  private static double seconds(long nanos) {
    return nanos / 1e9;
  }
}
