package dev.flotilla.gguf.python;

import dev.flotilla.gguf.sandbox.Budget;
import dev.flotilla.gguf.sandbox.Failure;
import java.math.BigDecimal;
import java.util.Locale;

/**
 * How one value is written in a format: width, sign, precision and type, after Python's format
 * specification.
 *
 * @param align one of {@code <>^=}, blank for the type's own
 * @param type {@code \0} where none is given
 */
record FormatSpec(
    String fill,
    char align,
    char sign,
    boolean alternate,
    int width,
    boolean commas,
    int precision,
    char type) {

  /** Wider fields are cut to this; no prompt needs them. */
  static final int WIDTH_MAX = 10_000;

  /** What a format is read into. */
  static final class Builder {
    private String fill = " ";
    private char align = ' ';
    private char sign = '-';
    private boolean alternate;
    private int width = -1;
    private int precision = -1;

    void percentFlag(char flag) {
      switch (flag) {
        case '-' -> {
          align = '<';
          fill = " ";
        }
        case '0' -> {
          if (align == ' ') {
            align = '=';
            fill = "0";
          }
        }
        case '#' -> alternate = true;
        default -> sign = flag == '+' || sign == ' ' || sign == '-' ? flag : sign;
      }
    }

    void width(int width) {
      this.width = width;
    }

    void precision(int precision) {
      this.precision = precision;
    }

    /** A value in the way of {@code %type}. */
    String percent(char type, Object value, Budget budget) {
      char own = align == ' ' ? '>' : align;
      return switch (type) {
        case 's', 'r', 'a' -> {
          String text = type == 's' ? Written.text(value, budget) : Written.repr(value, budget);
          yield new FormatSpec(
                  " ", own == '=' ? '>' : own, '-', false, width, false, precision, 's')
              .format(text, budget);
        }
        case 'c' ->
            new FormatSpec(" ", own == '=' ? '>' : own, '-', false, width, false, -1, 's')
                .format(
                    value instanceof Long point ? Character.toString(point.intValue()) : value,
                    budget);
        case 'd', 'i', 'u' -> {
          if (!Kinds.isNumber(value)) {
            throw wrong(type, value);
          }
          yield spec(own, 'd').format(whole(value), budget);
        }
        case 'x', 'X', 'o' -> {
          if (!Numbers.isWhole(value)) {
            throw wrong(type, value);
          }
          yield spec(own, type).format(value, budget);
        }
        case 'e', 'E', 'f', 'F', 'g', 'G' -> {
          if (!Kinds.isNumber(value)) {
            throw wrong(type, value);
          }
          yield spec(own, type).format(Numbers.real(value), budget);
        }
        default -> throw Failure.failed("unsupported format character '%s'", type);
      };
    }

    private FormatSpec spec(char own, char type) {
      return new FormatSpec(fill, own, sign, alternate, width, false, precision, type);
    }

    private static Failure wrong(char type, Object value) {
      return value instanceof Undefined missing
          ? missing.failure()
          : Failure.failed("%%%s format: a number is required, not %s", type, Kinds.name(value));
    }
  }

  private static Object whole(Object number) {
    return number instanceof Double real
        ? Numbers.narrow(new BigDecimal(real).toBigInteger())
        : Numbers.narrow(Numbers.big(number));
  }

  /** Reads a specification, what stands behind the {@code :} of a field. */
  static FormatSpec parse(String text) {
    int at = 0;
    String fill = " ";
    char align = ' ';
    int second = text.isEmpty() ? 0 : text.offsetByCodePoints(0, 1);
    if (second < text.length() && "<>^=".indexOf(text.charAt(second)) >= 0) {
      fill = text.substring(0, second);
      align = text.charAt(second);
      at = second + 1;
    } else if (!text.isEmpty() && "<>^=".indexOf(text.charAt(0)) >= 0) {
      align = text.charAt(0);
      at = 1;
    }
    char sign = '-';
    if (at < text.length() && "+- ".indexOf(text.charAt(at)) >= 0) {
      sign = text.charAt(at++);
    }
    boolean alternate = text.startsWith("#", at);
    at += alternate ? 1 : 0;
    if (text.startsWith("0", at)) {
      if (align == ' ') {
        align = '=';
        fill = "0";
      }
      at++;
    }
    int[] end = {at};
    int width = number(text, end);
    boolean commas = text.startsWith(",", end[0]) || text.startsWith("_", end[0]);
    end[0] += commas ? 1 : 0;
    int precision = -1;
    if (text.startsWith(".", end[0])) {
      end[0]++;
      precision = number(text, end);
      if (precision < 0) {
        throw Failure.failed("format specifier missing precision");
      }
    }
    char type = end[0] < text.length() ? text.charAt(end[0]++) : '\0';
    if (end[0] != text.length()) {
      throw Failure.failed("invalid format specifier");
    }
    return new FormatSpec(fill, align, sign, alternate, width, commas, precision, type);
  }

  private static int number(String text, int[] at) {
    int number = -1;
    while (at[0] < text.length() && text.charAt(at[0]) >= '0' && text.charAt(at[0]) <= '9') {
      number = Math.min(WIDTH_MAX, Math.max(number, 0) * 10 + text.charAt(at[0]++) - '0');
    }
    return number;
  }

  String format(Object value, Budget budget) {
    if (Kinds.isNumber(value) && !(value instanceof Boolean && type == '\0')) {
      return number(value);
    }
    if ((type != '\0' && type != 's') || align == '=') {
      throw Failure.failed(
          "unknown format code '%s' for object of type '%s'", type, Kinds.name(value));
    }
    String text = Written.text(value, budget);
    int points = text.codePointCount(0, text.length());
    if (precision >= 0 && precision < points) {
      text = text.substring(0, text.offsetByCodePoints(0, precision));
    }
    return padded("", text, '<');
  }

  private String number(Object value) {
    boolean whole = Numbers.isWhole(value);
    if (whole && type != '\0' && "eEfFgG%".indexOf(type) >= 0) {
      return number(Numbers.real(value));
    }
    String digits =
        whole ? wholeDigits(Numbers.narrow(Numbers.big(value))) : realDigits((Double) value);
    boolean negative = digits.startsWith("-");
    String plain = negative ? digits.substring(1) : digits;
    String before = negative ? "-" : sign == '-' ? "" : String.valueOf(sign);
    if (alternate && whole) {
      before +=
          type == 'x' ? "0x" : type == 'X' ? "0X" : type == 'o' ? "0o" : type == 'b' ? "0b" : "";
    }
    return padded(before, commas ? grouped(plain) : plain, '>');
  }

  private String wholeDigits(Object value) {
    return switch (type) {
      case '\0', 'd', 'n' -> value.toString();
      case 'x' -> Numbers.big(value).toString(16);
      case 'X' -> Numbers.big(value).toString(16).toUpperCase(Locale.ROOT);
      case 'o' -> Numbers.big(value).toString(8);
      case 'b' -> Numbers.big(value).toString(2);
      default -> throw Failure.failed("unknown format code '%s' for object of type 'int'", type);
    };
  }

  private String realDigits(double value) {
    if (Double.isNaN(value) || Double.isInfinite(value)) {
      return Numbers.written(value);
    }
    int digits = precision < 0 ? 6 : precision;
    return switch (type) {
      case 'f', 'F' -> Numbers.rounded(value, digits).toPlainString();
      case '%' -> Numbers.rounded(value * 100, digits).toPlainString() + "%";
      case 'e', 'E' -> exponential(value, digits, type);
      case 'g', 'G' -> general(value, Math.max(1, digits));
      case '\0' -> precision < 0 ? Numbers.written(value) : shortest(value, Math.max(1, digits));
      default -> throw Failure.failed("unknown format code '%s' for object of type 'float'", type);
    };
  }

  private static String exponential(double value, int digits, char letter) {
    String java = String.format(Locale.ROOT, "%." + digits + "e", new BigDecimal(value));
    return letter == 'E' ? java.toUpperCase(Locale.ROOT) : java;
  }

  private String general(double value, int digits) {
    String scientific = exponential(value, digits - 1, 'e');
    int e = scientific.indexOf('e');
    int exponent = Integer.parseInt(scientific.substring(e + 1));
    String result;
    if (exponent >= -4 && exponent < digits) {
      result = trimmed(Numbers.rounded(value, digits - 1 - exponent).toPlainString());
    } else {
      result = trimmed(scientific.substring(0, e)) + scientific.substring(e);
    }
    return type == 'G' ? result.toUpperCase(Locale.ROOT) : result;
  }

  private String shortest(double value, int digits) {
    String result = general(value, digits);
    return result.contains(".") || result.contains("e") ? result : result + ".0";
  }

  private String trimmed(String number) {
    if (alternate || number.indexOf('.') < 0) {
      return number;
    }
    int end = number.length();
    while (number.charAt(end - 1) == '0') {
      end--;
    }
    return number.substring(0, number.charAt(end - 1) == '.' ? end - 1 : end);
  }

  private static String grouped(String digits) {
    int end = digits.indexOf('.') < 0 ? digits.length() : digits.indexOf('.');
    StringBuilder out = new StringBuilder(digits);
    for (int at = end - 3; at > 0; at -= 3) {
      out.insert(at, ',');
    }
    return out.toString();
  }

  private String padded(String before, String text, char own) {
    int length = before.length() + text.codePointCount(0, text.length());
    int missing = Math.max(0, width - length);
    return switch (align == ' ' ? own : align) {
      case '<' -> before + text + fill.repeat(missing);
      case '^' -> fill.repeat(missing / 2) + before + text + fill.repeat(missing - missing / 2);
      case '=' -> before + fill.repeat(missing) + text;
      default -> fill.repeat(missing) + before + text;
    };
  }
}
