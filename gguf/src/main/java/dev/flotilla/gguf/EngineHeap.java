package dev.flotilla.gguf;

/**
 * How large the heap of the built-in engine has to be for a model: it is fixed when its process
 * starts, before the process has read anything.
 *
 * <p>Measured with SmolLM2 and checked again at every start: the tokenizer's tables take some 400
 * bytes a token, logits four for each slot, the buffers of a step of 256 rows some 16 KiB for each
 * number of the model's width; what remains is for requests.
 */
public final class EngineHeap {
  /** For requests that are read, parsed and rendered; see the engine's limits on bodies. */
  private static final long FOR_REQUESTS = 128L << 20;

  private static final long TOKEN_BYTES = 400;
  private static final long WIDTH_BYTES = 16L << 10;
  private static final long STEP = 16L << 20;

  private EngineHeap() {}

  /** Bytes, a multiple of 16 MiB. */
  public static long bytes(GgufHeader header, int slots) {
    long vocabulary = header.metadata().count("tokenizer.ggml.tokens").orElse(0);
    long width = header.metadata().integer(header.architecture() + ".embedding_length").orElse(0);
    // A header may say anything: beyond these no file has a model that is computed.
    long tables = Math.min(vocabulary, 1 << 21) * (TOKEN_BYTES + (long) Float.BYTES * slots);
    long buffers = Math.clamp(width, 0L, 1L << 16) * WIDTH_BYTES;
    return Math.ceilDiv(FOR_REQUESTS + tables + buffers, STEP) * STEP;
  }
}
