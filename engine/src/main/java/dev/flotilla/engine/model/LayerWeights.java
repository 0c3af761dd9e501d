package dev.flotilla.engine.model;

import dev.flotilla.engine.kernel.PackedMatrix;

/** The weights of one layer; vectors that the family has not are empty. */
@SuppressWarnings("ArrayRecordComponent") // never compared, never changed
record LayerWeights(
    float[] attentionNorm,
    PackedMatrix query,
    PackedMatrix key,
    PackedMatrix value,
    float[] queryBias,
    float[] keyBias,
    float[] valueBias,
    float[] queryNorm,
    float[] keyNorm,
    PackedMatrix attentionOut,
    float[] attentionPostNorm,
    float[] feedNorm,
    PackedMatrix gate,
    PackedMatrix up,
    PackedMatrix down,
    float[] feedPostNorm) {

  static LayerWeights load(Weights from, ModelShape shape, int layer) throws ModelRefused {
    String at = "blk." + layer + ".";
    int width = shape.width();
    int queries = shape.queryWidth();
    int kv = shape.kvWidth();
    boolean biases = shape.biases();
    boolean norms = shape.queryKeyNorm();
    boolean post = shape.postNorms();
    return new LayerWeights(
        from.vector(at + "attn_norm.weight", width),
        from.matrix(at + "attn_q.weight", queries, width),
        from.matrix(at + "attn_k.weight", kv, width),
        from.matrix(at + "attn_v.weight", kv, width),
        optional(from, biases, at + "attn_q.bias", queries),
        optional(from, biases, at + "attn_k.bias", kv),
        optional(from, biases, at + "attn_v.bias", kv),
        optional(from, norms, at + "attn_q_norm.weight", shape.headSize()),
        optional(from, norms, at + "attn_k_norm.weight", shape.headSize()),
        from.matrix(at + "attn_output.weight", width, queries),
        optional(from, post, at + "post_attention_norm.weight", width),
        from.vector(at + "ffn_norm.weight", width),
        from.matrix(at + "ffn_gate.weight", shape.feedForward(), width),
        from.matrix(at + "ffn_up.weight", shape.feedForward(), width),
        from.matrix(at + "ffn_down.weight", width, shape.feedForward()),
        optional(from, post, at + "post_ffw_norm.weight", width));
  }

  private static float[] optional(Weights from, boolean wanted, String name, int length)
      throws ModelRefused {
    return wanted ? from.vector(name, length) : new float[0];
  }

  long bytes() {
    return query.bytes()
        + key.bytes()
        + value.bytes()
        + attentionOut.bytes()
        + gate.bytes()
        + up.bytes()
        + down.bytes();
  }
}
