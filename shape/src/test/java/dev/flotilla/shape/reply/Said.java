package dev.flotilla.shape.reply;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.shape.dialect.Promise;
import dev.flotilla.shape.request.Asked;
import dev.flotilla.shape.request.RequestRefused;
import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;
import dev.flotilla.wire.openai.ChunkScan;
import dev.flotilla.wire.openai.RequestScan;
import dev.flotilla.wire.openai.RequestScan.Endpoint;
import dev.flotilla.wire.openai.RequestScan.Scanned;
import dev.flotilla.wire.text.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** What an engine said, and what becomes of it: the tests' short way through the shaper. */
record Said(ReplyForm form) {
  static final String WEATHER =
      """
      [{"type":"function","function":{"name":"get_weather","parameters":{"type":"object",
      "properties":{"city":{"type":"string"},"days":{"type":"integer"}}}}}]\
      """;

  /** By an engine, to a chat that asks for nothing special. */
  static Said by(Dialect dialect, Reasoning reasoning) {
    return by(dialect, reasoning, "");
  }

  /**
   * @param more of the request, beginning with a comma
   */
  static Said by(Dialect dialect, Reasoning reasoning, String more) {
    return by(
        dialect,
        reasoning,
        Endpoint.CHAT,
        "{\"model\":\"name\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]" + more + "}");
  }

  /** By an engine of a name that promises nothing. */
  static Said unpromised(Dialect dialect) {
    ReplyForm form = by(dialect, Reasoning.INLINE).form;
    return new Said(new ReplyForm(form.asked(), dialect, null, "name", "fp_1", 0));
  }

  static Said completion(Dialect dialect, String more) {
    return by(
        dialect,
        Reasoning.INLINE,
        Endpoint.COMPLETIONS,
        "{\"model\":\"name\",\"prompt\":\"x\"" + more + "}");
  }

  private static Said by(Dialect dialect, Reasoning reasoning, Endpoint endpoint, String body) {
    Promise promise = new Promise(reasoning, true);
    return new Said(new ReplyForm(asked(endpoint, body), dialect, promise, "name", "fp_1", 0));
  }

  static Asked asked(Endpoint endpoint, String body) {
    try {
      return Asked.of(endpoint, (Scanned) RequestScan.scan(endpoint, body.getBytes(UTF_8)));
    } catch (RequestRefused refused) {
      throw new AssertionError(refused.error().message(), refused);
    }
  }

  StreamShaper shaper() {
    AtomicInteger ids = new AtomicInteger();
    return new StreamShaper(form, () -> "call_" + ids.incrementAndGet(), null);
  }

  /** The chunks that the client gets for these events. */
  List<ObjectNode> stream(String... events) {
    StreamShaper shaper = shaper();
    List<ObjectNode> chunks = new ArrayList<>();
    for (String event : events) {
      byte[] json = event.getBytes(UTF_8);
      ChunkScan scan = new ChunkScan("name");
      if (!scan.scan(json, 0, json.length)) {
        throw new AssertionError("no JSON object: " + event);
      }
      if (shaper.passes(scan)) {
        chunks.add((ObjectNode) Json.MAPPER.readTree(scan.withModel(json)));
      } else {
        chunks.addAll(shaper.shape(json, 0, json.length));
      }
    }
    ObjectNode usage = shaper.usage();
    if (usage != null && form.asked().scanned().includeUsage()) {
      chunks.add(shaper.usageChunk(usage));
    }
    return chunks;
  }

  /** The same, as one whole reply. */
  ObjectNode assembled(String... events) {
    Assembly assembly = new Assembly(form);
    StreamShaper shaper = shaper();
    for (String event : events) {
      shaper.shape((ObjectNode) Json.MAPPER.readTree(event)).forEach(assembly::add);
    }
    return assembly.whole(shaper.usage());
  }

  /** The reply that the client gets for this one. */
  ObjectNode whole(String reply) {
    AtomicInteger ids = new AtomicInteger();
    ObjectNode told = (ObjectNode) Json.MAPPER.readTree(reply);
    return new WholeShaper(form, () -> "call_" + ids.incrementAndGet())
        .shape(told)
        .orElseGet(() -> told.put("model", "name"));
  }

  /** The deltas of chunks, each as JSON, a finish reason as itself. */
  static List<String> deltas(List<ObjectNode> chunks) {
    List<String> deltas = new ArrayList<>();
    for (ObjectNode chunk : chunks) {
      JsonNode choice = chunk.path("choices").path(0);
      if (choice.isMissingNode()) {
        deltas.add("usage");
      } else if (choice.path("finish_reason").isString()) {
        deltas.add(choice.path("finish_reason").stringValue());
      } else {
        deltas.add(choice.path("delta").toString());
      }
    }
    return deltas;
  }

  /** A delta of vLLM's. */
  static String vllm(String delta, String finish) {
    return "{\"id\":\"chatcmpl-b2375eb098640207\",\"object\":\"chat.completion.chunk\",\"created\":1795974348,"
        + "\"model\":\"smollm2\",\"choices\":[{\"index\":0,\"delta\":"
        + delta
        + ",\"logprobs\":null,\"finish_reason\":"
        + finish
        + ",\"token_ids\":null}]}";
  }

  /** A delta of mlx-lm's. */
  static String mlx(String delta, String finish) {
    return "{\"id\": \"chatcmpl-51cbbec2\", \"system_fingerprint\": \"0.32.2-0.32.4-Linux-KERNEL-x86_64-with-glibc2.36-x86_64\", "
        + "\"object\": \"chat.completion.chunk\", \"model\": \"default_model\", \"created\": 1795974789, "
        + "\"choices\": [{\"index\": 0, \"finish_reason\": "
        + finish
        + ", \"delta\": "
        + delta
        + "}]}";
  }

  /** A delta of llama-server's. */
  static String llama(String delta, String finish) {
    return "{\"choices\":[{\"finish_reason\":"
        + finish
        + ",\"index\":0,\"delta\":"
        + delta
        + "}],\"created\":1795984988,\"id\":\"chatcmpl-SQp43JzjSNFR0PXa2SL1VkIPA5TkKBzE\",\"model\":\"smollm2-135m\","
        + "\"system_fingerprint\":\"b0-unknown\",\"object\":\"chat.completion.chunk\"}";
  }
}
