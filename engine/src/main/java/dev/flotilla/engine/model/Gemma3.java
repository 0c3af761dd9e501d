package dev.flotilla.engine.model;

import java.util.ArrayList;
import java.util.List;

/**
 * Gemma 3, text: five layers of six see a window and rotate with a base of their own; heads of
 * queries and keys are normed, and so is what a layer adds; the gate is gelu.
 */
record Gemma3() implements Architecture {
  private static final int PERIOD = 6;
  private static final float LOCAL_BASE = 10000f;

  /** The 27B model, which alone scales queries by its width per head. */
  private static final int LAYERS_OF_27B = 62;

  @Override
  public String word() {
    return "gemma3";
  }

  @Override
  public ModelShape shape(Hyperparameters from) throws ModelRefused {
    ModelShape common = from.shape(true);
    if (common.layers().size() == LAYERS_OF_27B) {
      throw new ModelRefused("gemma3 with 62 layers scales queries otherwise: not computed");
    }
    int window = from.size("attention.sliding_window", 0);
    ModelShape.Layer global = common.layers().getFirst();
    ModelShape.Layer local =
        new ModelShape.Layer(window, from.number("rope.freq_base_swa", LOCAL_BASE), 1f);
    List<ModelShape.Layer> layers = new ArrayList<>();
    for (int i = 0; i < common.layers().size(); i++) {
      layers.add(window == 0 || i % PERIOD == PERIOD - 1 ? global : local);
    }
    return new ShapeChange(common).gemma((float) Math.sqrt(common.width()), layers).shape();
  }
}
