package dev.flotilla.shape.probe;

/**
 * One place where a shape is not as it should be.
 *
 * @param place a fact's name, as {@link Shape} has them
 * @param expected what was promised, or what the other server showed
 * @param seen what came
 */
public record Difference(String place, String expected, String seen) {

  /** One line: where, what was expected, what was seen. */
  @Override
  public String toString() {
    return place + ": expected " + expected + ", seen " + seen;
  }
}
