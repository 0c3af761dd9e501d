package dev.flotilla.wire.text;

import java.io.OutputStream;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.json.JsonMapper;

/** How JSON of others is read: UTF-8 only, with a limit on depth. */
public final class Json {
  /** Objects and lists within each other. */
  public static final int DEPTH_MAX = 100;

  /** Characters of one field's name. */
  public static final int NAME_CHARS_MAX = 50_000;

  /** Characters of one number. */
  public static final int NUMBER_CHARS_MAX = 1_000;

  /** Makes parsers that hold to these limits, for mappers with rules of their own. */
  public static final JsonFactory FACTORY =
      JsonFactory.builder()
          .disable(TokenStreamFactory.Feature.CHARSET_DETECTION)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(DEPTH_MAX)
                  .maxNameLength(NAME_CHARS_MAX)
                  .maxNumberLength(NUMBER_CHARS_MAX)
                  .maxStringLength(Integer.MAX_VALUE)
                  .build())
          .build();

  public static final JsonMapper MAPPER = JsonMapper.builder(FACTORY).build();

  private Json() {}

  /** Reads by the token, where no tree is needed. */
  public static JsonParser parser(byte[] bytes) {
    return parser(bytes, 0, bytes.length);
  }

  /** Writes by the token, where no tree is needed. */
  public static JsonGenerator generator(OutputStream out) {
    return FACTORY.createGenerator(ObjectWriteContext.empty(), out);
  }

  /** Reads a part of an array by the token. */
  public static JsonParser parser(byte[] bytes, int start, int length) {
    return FACTORY.createParser(ObjectReadContext.empty(), bytes, start, length);
  }

  /** The number at the parser; the default, and past the value, where it is none or negative. */
  public static double number(JsonParser parser, double otherwise) throws JacksonException {
    if (parser.currentToken() == null || !parser.currentToken().isNumeric()) {
      parser.skipChildren();
      return otherwise;
    }
    double number = parser.getDoubleValue();
    return number >= 0 ? number : otherwise;
  }
}
