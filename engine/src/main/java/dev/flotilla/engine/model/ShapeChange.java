package dev.flotilla.engine.model;

import java.util.List;

/** A shape and what makes a family's out of it. */
record ShapeChange(ModelShape shape) {
  ShapeChange queryKeyNorm() {
    return with(true, shape.biases(), shape.gelu(), shape.postNorms(), 1f, shape.layers());
  }

  ShapeChange biases() {
    return with(shape.queryKeyNorm(), true, shape.gelu(), shape.postNorms(), 1f, shape.layers());
  }

  /** Gelu, norms behind each layer, embeddings scaled, and layers that differ. */
  ShapeChange gemma(float embeddingScale, List<ModelShape.Layer> layers) {
    return with(true, false, true, true, embeddingScale, layers);
  }

  private ShapeChange with(
      boolean queryKeyNorm,
      boolean biases,
      boolean gelu,
      boolean postNorms,
      float embeddingScale,
      List<ModelShape.Layer> layers) {
    return new ShapeChange(
        new ModelShape(
            shape.width(),
            shape.heads(),
            shape.kvHeads(),
            shape.headSize(),
            shape.feedForward(),
            shape.vocabulary(),
            shape.contextMax(),
            shape.normEpsilon(),
            shape.queryScale(),
            embeddingScale,
            gelu,
            shape.halves(),
            queryKeyNorm,
            biases,
            postNorms,
            layers));
  }
}
