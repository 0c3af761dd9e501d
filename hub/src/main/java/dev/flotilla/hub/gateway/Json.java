package dev.flotilla.hub.gateway;

import java.io.OutputStream;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/** JSON by the token: nothing here is large enough for more. */
final class Json {
  private static final JsonFactory FACTORY = new JsonFactory();

  private Json() {}

  static JsonGenerator generator(OutputStream out) {
    return FACTORY.createGenerator(ObjectWriteContext.empty(), out);
  }

  static JsonParser parser(byte[] bytes) {
    return FACTORY.createParser(ObjectReadContext.empty(), bytes);
  }
}
