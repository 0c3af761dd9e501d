package dev.flotilla.gguf.python;

import dev.flotilla.gguf.sandbox.Failure;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;

/** Python's arithmetic. */
public final class Numbers {
  /** Longer whole numbers are refused; 64 bits are what any template computes with. */
  private static final int BITS_MAX = 4096;

  private Numbers() {}

  /** A whole number in the form that values have. */
  public static Object narrow(BigInteger number) {
    if (number.bitLength() < Long.SIZE) {
      return number.longValue();
    }
    if (number.bitLength() > BITS_MAX) {
      throw Failure.limit("a number of more than %d bits".formatted(BITS_MAX));
    }
    return number;
  }

  /** A value where only a whole number will do. */
  public static long index(Object value, String what) {
    return switch (value) {
      case Long number -> number;
      case Boolean truth -> truth ? 1 : 0;
      case BigInteger number -> number.signum() < 0 ? Long.MIN_VALUE : Long.MAX_VALUE;
      case Undefined missing -> throw missing.failure();
      default -> throw Failure.failed("%s needs a whole number, not %s", what, Kinds.name(value));
    };
  }

  /** Whether it is a whole number; truth values are, as 0 and 1. */
  public static boolean isWhole(Object value) {
    return value instanceof Long || value instanceof Boolean || value instanceof BigInteger;
  }

  /** A whole number, whatever its form. */
  public static BigInteger big(Object whole) {
    return switch (whole) {
      case BigInteger number -> number;
      case Boolean truth -> truth ? BigInteger.ONE : BigInteger.ZERO;
      default -> BigInteger.valueOf((Long) whole);
    };
  }

  /**
   * A number as the double next to it.
   *
   * @throws Failure where it is beyond all doubles
   */
  public static double real(Object number) {
    return number instanceof Boolean truth ? (truth ? 1 : 0) : ((Number) number).doubleValue();
  }

  /**
   * {@code -value}.
   *
   * @throws Failure for what is no number
   */
  public static Object negative(Object value) {
    if (value instanceof Double number) {
      return -number;
    }
    if (isWhole(value)) {
      return narrow(big(value).negate());
    }
    throw unary("-", value);
  }

  /**
   * {@code +value}.
   *
   * @throws Failure for what is no number
   */
  public static Object positive(Object value) {
    if (value instanceof Double) {
      return value;
    }
    if (isWhole(value)) {
      return narrow(big(value));
    }
    throw unary("+", value);
  }

  private static Failure unary(String operator, Object value) {
    return value instanceof Undefined missing
        ? missing.failure()
        : Failure.failed("bad operand type for unary %s: '%s'", operator, Kinds.name(value));
  }

  /** {@code a OPERATOR b} of two numbers. */
  public static Object arithmetic(String operator, Object a, Object b) {
    if (operator.equals("/")) {
      return divide(real(a), real(b));
    }
    if (!isWhole(a) || !isWhole(b)) {
      return reals(operator, real(a), real(b));
    }
    BigInteger left = big(a);
    BigInteger right = big(b);
    return switch (operator) {
      case "+" -> narrow(left.add(right));
      case "-" -> narrow(left.subtract(right));
      case "*" -> narrow(left.multiply(right));
      case "//" -> narrow(floorDivide(left, nonZero(right)));
      case "%" -> narrow(left.subtract(floorDivide(left, nonZero(right)).multiply(right)));
      case "**" -> power(left, right);
      default -> throw new IllegalStateException(operator);
    };
  }

  private static Object divide(double a, double b) {
    if (b == 0) {
      throw Failure.failed("division by zero");
    }
    return a / b;
  }

  private static BigInteger nonZero(BigInteger divisor) {
    if (divisor.signum() == 0) {
      throw Failure.failed("integer division or modulo by zero");
    }
    return divisor;
  }

  private static BigInteger floorDivide(BigInteger a, BigInteger b) {
    BigInteger[] parts = a.divideAndRemainder(b);
    return parts[1].signum() != 0 && parts[1].signum() != b.signum()
        ? parts[0].subtract(BigInteger.ONE)
        : parts[0];
  }

  private static Object power(BigInteger base, BigInteger exponent) {
    if (exponent.signum() < 0) {
      if (base.signum() == 0) {
        throw Failure.failed("0 can't be raised to a negative power");
      }
      return reals("**", base.doubleValue(), exponent.doubleValue());
    }
    if (base.abs().bitLength() <= 1) { // 0, 1 and -1 have powers of any height
      return exponent.signum() == 0
          ? 1L
          : exponent.testBit(0) ? base.longValue() : base.abs().longValue();
    }
    if (exponent.bitLength() > 31
        || (long) (base.abs().bitLength() - 1) * exponent.intValue() > BITS_MAX) {
      throw Failure.limit("a number of more than %d bits".formatted(BITS_MAX));
    }
    return narrow(base.pow(exponent.intValue()));
  }

  private static Object reals(String operator, double a, double b) {
    return switch (operator) {
      case "+" -> a + b;
      case "-" -> a - b;
      case "*" -> a * b;
      case "//" -> Math.floor((Double) divide(a, b));
      case "%" -> {
        double rest = a % nonZero(b);
        yield rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
      }
      case "**" -> Math.pow(a, b);
      default -> throw new IllegalStateException(operator);
    };
  }

  private static Double nonZero(double divisor) {
    if (divisor == 0) {
      throw Failure.failed("float modulo by zero");
    }
    return divisor;
  }

  /** Python's {@code repr} of a float: the shortest digits that read back as the same number. */
  public static String written(double number) {
    if (Double.isNaN(number)) {
      return "nan";
    }
    if (Double.isInfinite(number)) {
      return number < 0 ? "-inf" : "inf";
    }
    if (number == 0) {
      return 1 / number < 0 ? "-0.0" : "0.0";
    }
    BigDecimal exact = new BigDecimal(Double.toString(number)).stripTrailingZeros();
    int exponent = exact.precision() - exact.scale() - 1;
    if (exponent >= -4 && exponent < 16) {
      String plain = exact.toPlainString();
      return plain.contains(".") ? plain : plain + ".0";
    }
    String digits = exact.unscaledValue().abs().toString();
    return (number < 0 ? "-" : "")
        + digits.charAt(0)
        + (digits.length() > 1 ? "." + digits.substring(1) : "")
        + "e"
        + (exponent < 0 ? "-" : "+")
        + "%02d".formatted(Math.abs(exponent));
  }

  /** A float of so many digits after the point, its exact value rounded half to even. */
  static BigDecimal rounded(double number, int digits) {
    return new BigDecimal(number).setScale(digits, RoundingMode.HALF_EVEN);
  }
}
