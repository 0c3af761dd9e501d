package dev.flotilla.engine.kernel;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/**
 * The width of this process's vectors: the machine's, or that of {@value #PROPERTY}, 128, 256 or
 * 512 bits. Constant, since C2 turns into instructions only what has a constant species.
 */
final class VectorWidth {
  static final String PROPERTY = "flotilla.engine.vectorBits";
  static final VectorShape SHAPE = chosen();
  static final VectorSpecies<Short> SHORTS = VectorSpecies.of(short.class, SHAPE);
  static final VectorSpecies<Integer> INTS = VectorSpecies.of(int.class, SHAPE);
  static final VectorSpecies<Float> FLOATS = VectorSpecies.of(float.class, SHAPE);

  private VectorWidth() {}

  private static VectorShape chosen() {
    Integer bits = Integer.getInteger(PROPERTY);
    int width = bits == null ? FloatVector.SPECIES_PREFERRED.vectorBitSize() : bits;
    return switch (width) {
      case 128 -> VectorShape.S_128_BIT;
      case 256 -> VectorShape.S_256_BIT;
      default -> VectorShape.S_512_BIT;
    };
  }

  /** Bits of one vector. */
  static int bits() {
    return SHAPE.vectorBitSize();
  }

  /** Whether the machine has vectors of all three kinds, in this width. */
  static boolean isNative() {
    return IntVector.SPECIES_PREFERRED.vectorBitSize() >= bits()
        && ShortVector.SPECIES_PREFERRED.vectorBitSize() >= bits();
  }
}
