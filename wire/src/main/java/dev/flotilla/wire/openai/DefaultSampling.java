package dev.flotilla.wire.openai;

/**
 * How a token is drawn where neither a request nor a promise says: as llama.cpp draws
 * (common/common.h), which is what people who run models themselves know, so that one file means
 * the same on every engine.
 */
public final class DefaultSampling {
  public static final double TEMPERATURE = 0.8;
  public static final int TOP_K = 40;
  public static final double TOP_P = 0.95;
  public static final double MIN_P = 0.05;

  private DefaultSampling() {}
}
