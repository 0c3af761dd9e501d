package dev.flotilla.engine.model;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.flotilla.gguf.GgufHeader;
import dev.flotilla.gguf.GgufRefused;
import dev.flotilla.gguf.tokenizer.Tokenizer;
import dev.flotilla.testkit.real.RealEngine;
import dev.flotilla.testkit.real.RealServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;

/**
 * The real llama.cpp with a model file: its tokens of a text, its greedy way on from there.
 *
 * <p>Tokens that are a part of a character are never chosen: llama-server tells nothing of them
 * until the character is whole. One thread computes, since two wait for each other at every
 * operation, which takes long where other programs have the processors.
 */
final class LlamaReference implements AutoCloseable {
  private static final JsonMapper JSON = new JsonMapper();

  private final RealServer server;
  private final List<Integer> partsOfCharacters;

  /**
   * Starts it.
   *
   * @param options beside those that every reference has
   */
  LlamaReference(Path model, String... options) throws GgufRefused {
    Tokenizer tokenizer = Tokenizer.of(GgufHeader.read(model));
    partsOfCharacters =
        IntStream.range(0, tokenizer.size())
            .filter(token -> isPart(tokenizer.piece(token)))
            .boxed()
            .toList();
    server =
        RealServer.of(RealEngine.LLAMA_SERVER)
            .model(model)
            .options("--threads", "1")
            .options(options)
            .start();
  }

  private static boolean isPart(byte[] piece) {
    return !Arrays.equals(piece, new String(piece, UTF_8).getBytes(UTF_8));
  }

  /**
   * One step.
   *
   * @param chosen the token that follows
   * @param likely its likeliest tokens with their log-probabilities, the likeliest first
   */
  record Step(int chosen, List<Likely> likely) {
    Step {
      likely = List.copyOf(likely);
    }
  }

  record Likely(int token, double logProbability) {}

  List<Integer> tokens(String text) throws IOException, InterruptedException {
    JsonNode reply =
        post("/tokenize", JSON.createObjectNode().put("content", text).put("add_special", true));
    List<Integer> tokens = new ArrayList<>();
    reply.get("tokens").forEach(token -> tokens.add(token.asInt()));
    return tokens;
  }

  List<Step> greedy(List<Integer> prompt, int count) throws IOException, InterruptedException {
    var request =
        JSON.createObjectNode()
            .put("n_predict", count)
            .put("temperature", 0)
            .put("n_probs", 20)
            .put("cache_prompt", false)
            .put("ignore_eos", true);
    var array = request.putArray("prompt");
    prompt.forEach(array::add);
    ArrayNode bias = request.putArray("logit_bias");
    partsOfCharacters.forEach(token -> bias.addArray().add(token).add(false));
    List<Step> steps = new ArrayList<>();
    for (JsonNode step : post("/completion", request).get("completion_probabilities")) {
      List<Likely> likely = new ArrayList<>();
      for (JsonNode token : step.get("top_logprobs")) {
        likely.add(new Likely(token.get("id").asInt(), token.get("logprob").asDouble()));
      }
      steps.add(new Step(step.get("id").asInt(), likely));
    }
    if (steps.size() != count) {
      throw new IOException("%d of %d tokens were told".formatted(steps.size(), count));
    }
    return steps;
  }

  /** The vector of a text's tokens, of a server that was started for vectors. */
  double[] vector(List<Integer> tokens) throws IOException, InterruptedException {
    var request = JSON.createObjectNode();
    var array = request.putArray("input");
    tokens.forEach(array::add);
    JsonNode vector = post("/v1/embeddings", request).at("/data/0/embedding");
    return vector.valueStream().mapToDouble(JsonNode::asDouble).toArray();
  }

  private JsonNode post(String path, JsonNode body) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body.toString()))
            .build();
    try (HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      HttpResponse<String> reply = client.send(request, HttpResponse.BodyHandlers.ofString());
      if (reply.statusCode() != 200) {
        throw new IOException(reply.body());
      }
      return JSON.readTree(reply.body());
    }
  }

  @Override
  public void close() {
    server.close();
  }
}
