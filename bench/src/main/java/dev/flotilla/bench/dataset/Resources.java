package dev.flotilla.bench.dataset;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The texts that this package brings along. */
final class Resources {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private Resources() {}

  static byte[] bytes(String file) {
    try (InputStream in = Resources.class.getResourceAsStream(file)) {
      if (in == null) {
        throw new IllegalStateException("the program's own " + file + " is not there");
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static JsonNode json(String file) {
    return MAPPER.readTree(bytes(file));
  }
}
