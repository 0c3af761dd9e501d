package dev.flotilla.gguf;

import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The keys and values of a header. A key that is missing, or that holds another kind of value than
 * the one asked for, is empty: what a file says of itself is not to be trusted.
 */
public final class Metadata {

  /** Array elements up to which numbers are kept; longer arrays are only counted. */
  static final int KEPT_ELEMENTS_MAX = 8192;

  private final Map<String, Value> values;

  Metadata(Map<String, Value> values) {
    this.values = Collections.unmodifiableMap(new LinkedHashMap<>(values));
  }

  /** All keys, in the file's order. */
  public Set<String> keys() {
    return values.keySet();
  }

  /** A text. */
  public Optional<String> text(String key) {
    return values.get(key) instanceof Value.Text text ? Optional.of(text.text()) : Optional.empty();
  }

  /** A whole number of any width; 64-bit unsigned ones beyond 2⁶³ are negative. */
  public OptionalLong integer(String key) {
    return values.get(key) instanceof Value.Whole whole
        ? OptionalLong.of(whole.number())
        : OptionalLong.empty();
  }

  /** A floating-point number. */
  public OptionalDouble number(String key) {
    return values.get(key) instanceof Value.Real real
        ? OptionalDouble.of(real.number())
        : OptionalDouble.empty();
  }

  /** A truth value. */
  public Optional<Boolean> bool(String key) {
    return values.get(key) instanceof Value.Truth truth
        ? Optional.of(truth.truth())
        : Optional.empty();
  }

  /**
   * An array of whole numbers or truth values (1 and 0) of at most {@value #KEPT_ELEMENTS_MAX}
   * elements.
   */
  public Optional<long[]> integers(String key) {
    return values.get(key) instanceof Value.Wholes wholes
        ? Optional.of(Arrays.copyOf(wholes.numbers(), wholes.numbers().length))
        : Optional.empty();
  }

  /** A value as it was read, for this package. */
  @Nullable Value value(String key) {
    return values.get(key);
  }

  /** How many elements the array has. */
  public OptionalLong count(String key) {
    return switch (values.get(key)) {
      case Value.Wholes wholes -> OptionalLong.of(wholes.numbers().length);
      case Value.Counted counted -> OptionalLong.of(counted.elements());
      case null, default -> OptionalLong.empty();
    };
  }

  /** One value. */
  sealed interface Value {
    record Text(String text) implements Value {}

    record Whole(long number) implements Value {}

    record Real(double number) implements Value {}

    record Truth(boolean truth) implements Value {}

    @SuppressWarnings("ArrayRecordComponent") // never compared, copied before it leaves the class
    record Wholes(long[] numbers) implements Value {}

    /**
     * An array whose elements are not kept.
     *
     * @param type of the elements, as the file numbers it
     * @param position where the first element is in the file
     */
    record Counted(long elements, int type, long position) implements Value {}
  }
}
