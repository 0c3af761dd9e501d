package dev.flotilla.agent.engine;

import dev.flotilla.agent.engine.EngineAdapter.ModelRefused;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A model folder as Hugging Face has it, as far as a start depends on it.
 *
 * <p>Sources: the form of safetensors (huggingface.co/docs/safetensors: 8 bytes of length, a JSON
 * header with {@code data_offsets}, the data) and the configuration of transformers. Models of
 * several modalities have the language model's part in {@code text_config}.
 *
 * @param weightBytes bytes of all tensors, as they are in the files
 * @param layers layers that keep a cache; where some keep none, or a window only, this counts them
 *     as if they did, so that what is computed with it is an upper bound
 * @param cacheElements numbers that the cache keeps of one token in one layer
 * @param hidden width of the hidden state
 * @param vocabulary tokens
 * @param contextTokens what the model was made for, empty where the folder does not say
 * @param elementBytes bytes of one number of the type that it computes with
 * @param quantized whether its weights are packed
 */
record ModelFolder(
    Path folder,
    long weightBytes,
    long layers,
    long cacheElements,
    long hidden,
    long vocabulary,
    OptionalLong contextTokens,
    int elementBytes,
    boolean quantized) {
  private static final int JSON_BYTES_MAX = 16 << 20;
  private static final int HEADER_BYTES_MAX = 100_000_000;
  private static final String LFS = "version https://git-lfs";

  /** Reads what a start needs; the weights themselves are not read. */
  static ModelFolder read(Path folder) throws ModelRefused {
    if (Files.isRegularFile(folder)) {
      throw new ModelRefused(
          folder
              + " is a file; this engine reads a folder as Hugging Face has it, with config.json and"
              + " safetensors.");
    }
    if (!Files.isDirectory(folder)) {
      throw new ModelRefused(folder + ": there is no such folder.");
    }
    try {
      JsonNode config = json(folder.resolve("config.json"));
      JsonNode text = config.path("text_config").isObject() ? config.path("text_config") : config;
      long weights = 0;
      for (Path file : weightFiles(folder)) {
        weights += tensorBytes(file);
      }
      return of(folder, config, text, weights);
    } catch (IOException e) {
      throw new ModelRefused(folder + " can't be read: " + e.getMessage());
    }
  }

  private static ModelFolder of(Path folder, JsonNode config, JsonNode text, long weights)
      throws ModelRefused {
    long layers = need(folder, text, "num_hidden_layers");
    long hidden = need(folder, text, "hidden_size");
    long heads = need(folder, text, "num_attention_heads");
    long kvHeads = text.path("num_key_value_heads").asLong(heads);
    long headSize = text.path("head_dim").asLong(hidden / Math.max(1, heads));
    // Latent attention keeps one compressed row and the rotated part of the keys.
    long latent = text.path("kv_lora_rank").asLong(0);
    long elements =
        latent > 0
            ? latent + text.path("qk_rope_head_dim").asLong(0)
            : Math.multiplyExact(2 * kvHeads, headSize);
    String type = text.path("dtype").asString(text.path("torch_dtype").asString(""));
    if (type.isEmpty()) {
      type = config.path("dtype").asString(config.path("torch_dtype").asString("bfloat16"));
    }
    return new ModelFolder(
        folder,
        weights,
        layers,
        elements,
        hidden,
        text.path("vocab_size").asLong(config.path("vocab_size").asLong(0)),
        context(text),
        type.equals("float32") ? 4 : 2,
        config.has("quantization_config") || config.has("quantization"));
  }

  /** Positions that were trained, or those that a scaling of them reaches. */
  private static OptionalLong context(JsonNode text) {
    long positions = text.path("max_position_embeddings").asLong(0);
    JsonNode scaling =
        text.path("rope_scaling").isObject()
            ? text.path("rope_scaling")
            : text.path("rope_parameters");
    long original = scaling.path("original_max_position_embeddings").asLong(positions);
    double scaled = original * Math.max(1, scaling.path("factor").asDouble(1));
    return positions == 0
        ? OptionalLong.empty()
        : OptionalLong.of(Math.max(positions, (long) scaled));
  }

  private static long need(Path folder, JsonNode config, String key) throws ModelRefused {
    long value = config.path(key).asLong(0);
    if (value <= 0 || value > 1L << 31) {
      throw new ModelRefused(
          "%s: its config.json has no usable %s, so it is no language model that this engine serves."
              .formatted(folder, key));
    }
    return value;
  }

  private static JsonNode json(Path file) throws IOException, ModelRefused {
    if (!Files.isRegularFile(file)) {
      throw new ModelRefused(
          "%s holds no %s; a model folder as Hugging Face has it is needed."
              .formatted(file.getParent(), file.getFileName()));
    }
    if (Files.size(file) > JSON_BYTES_MAX) {
      throw new ModelRefused(file + " has more than " + (JSON_BYTES_MAX >> 20) + " MiB.");
    }
    try {
      JsonNode json = JsonMapper.shared().readTree(Files.readAllBytes(file));
      if (json.isObject()) {
        return json;
      }
    } catch (JacksonException e) {
      // Said below, as for JSON that is no object.
    }
    throw new ModelRefused(file + " is damaged: it is not a JSON object.");
  }

  /** Those that the index names, else all that are there. */
  private static List<Path> weightFiles(Path folder) throws IOException, ModelRefused {
    List<Path> files = new ArrayList<>();
    Path index = folder.resolve("model.safetensors.index.json");
    if (Files.exists(index)) {
      for (JsonNode name : json(index).path("weight_map")) {
        Path file = folder.resolve(name.asString("")).normalize();
        if (!file.startsWith(folder.normalize())) {
          throw new ModelRefused(index + " names a file outside of its folder.");
        }
        if (!files.contains(file)) {
          files.add(file);
        }
      }
    } else {
      try (DirectoryStream<Path> found = Files.newDirectoryStream(folder, "*.safetensors")) {
        found.forEach(files::add);
      }
    }
    if (files.isEmpty()) {
      throw new ModelRefused(
          folder + " holds no safetensors; other forms of weights are not served from a folder.");
    }
    for (Path file : files) {
      if (!Files.isRegularFile(file)) {
        throw new ModelRefused(
            "%s is not whole: %s is missing.".formatted(folder, file.getFileName()));
      }
    }
    return files;
  }

  private static long tensorBytes(Path file) throws IOException, ModelRefused {
    long size = Files.size(file);
    try (InputStream in = Files.newInputStream(file)) {
      byte[] begin = in.readNBytes(Long.BYTES);
      if (begin.length == Long.BYTES
          && LFS.startsWith(new String(begin, StandardCharsets.US_ASCII))) {
        throw new ModelRefused(
            file + " is a Git LFS pointer, not the file that it points to; fetch it with git lfs.");
      }
      long length =
          begin.length < Long.BYTES
              ? -1
              : ByteBuffer.wrap(begin).order(ByteOrder.LITTLE_ENDIAN).getLong();
      if (length < 2 || length > HEADER_BYTES_MAX || length > size - Long.BYTES) {
        throw new ModelRefused(file + " is truncated or damaged: it has no safetensors header.");
      }
      long data = 0;
      for (JsonNode tensor : JsonMapper.shared().readTree(in.readNBytes((int) length))) {
        data = Math.max(data, tensor.path("data_offsets").path(1).asLong(0));
      }
      long whole = Long.BYTES + length + data;
      if (size < whole) {
        throw new ModelRefused(
            "%s is truncated: it has %,d bytes of %,d.".formatted(file, size, whole));
      }
      return data;
    } catch (JacksonException e) {
      throw new ModelRefused(file + " is damaged: its header is not JSON.");
    }
  }

  /** Bytes of the cache of one token, where one of its numbers takes so many. */
  long cacheBytesOfAToken(int bytes) {
    return Math.multiplyExact(layers * cacheElements, bytes);
  }

  /** Refuses a promise that is longer than what the model was made for. */
  void mustReach(int promised) throws ModelRefused {
    if (contextTokens.isPresent() && promised > contextTokens.getAsLong()) {
      throw new ModelRefused(
          "%s was made for a context of %,d tokens, and promise.context is %,d; promise at most that."
              .formatted(folder, contextTokens.getAsLong(), promised));
    }
  }
}
