package dev.flotilla.hub.gateway;

import dev.flotilla.wire.text.Json;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.JsonNode;

/** The bodies by which llama-server counts a prompt, and the counts of it and of vLLM. */
final class Prompts {

  private Prompts() {}

  /**
   * The prompt in a reply of {@code /apply-template}.
   *
   * @throws IOException where there is none
   */
  static byte[] rendered(byte[] reply) throws IOException {
    byte[] prompt = string(reply, "prompt");
    if (prompt == null) {
      throw new IOException("no prompt in the reply of /apply-template");
    }
    return prompt;
  }

  /** The prompt of a request for a completion; null where it is not one string. */
  static byte @Nullable [] ofCompletion(byte[] body) throws IOException {
    return string(body, "prompt");
  }

  /** The body for {@code /tokenize}: special tokens count as the engine counts them. */
  static byte[] toTokenize(byte[] prompt) {
    ByteArrayOutputStream body = new ByteArrayOutputStream(prompt.length + 64);
    try (JsonGenerator json = Json.generator(body)) {
      json.writeStartObject();
      json.writeName("content");
      json.writeString(new String(prompt, StandardCharsets.UTF_8));
      json.writeName("add_special");
      json.writeBoolean(true);
      json.writeName("parse_special");
      json.writeBoolean(true);
      json.writeEndObject();
    }
    return body.toByteArray();
  }

  /**
   * How many tokens a reply of {@code /tokenize} lists.
   *
   * @throws IOException where it lists none
   */
  static int tokens(byte[] reply) throws IOException {
    try (JsonParser json = Json.parser(reply)) {
      if (json.nextToken() != JsonToken.START_OBJECT) {
        throw new IOException("no object in the reply of /tokenize");
      }
      while (json.nextToken() == JsonToken.PROPERTY_NAME) {
        String name = json.currentName();
        if (name.equals("tokens") && json.nextToken() == JsonToken.START_ARRAY) {
          int count = 0;
          while (json.nextToken() != JsonToken.END_ARRAY) {
            json.skipChildren();
            count++;
          }
          return count;
        }
        json.nextToken();
        json.skipChildren();
      }
      throw new IOException("no tokens in the reply of /tokenize");
    } catch (JacksonException malformed) {
      throw new IOException("the reply of /tokenize is not JSON", malformed);
    }
  }

  /**
   * How many tokens a reply of vLLM's {@code /tokenize} counts.
   *
   * @throws IOException where it counts none
   */
  static int count(byte[] reply) throws IOException {
    try {
      JsonNode count = Json.MAPPER.readTree(reply).path("count");
      if (!count.canConvertToInt() || count.intValue() < 0) {
        throw new IOException("no count in the reply of /tokenize");
      }
      return count.intValue();
    } catch (JacksonException malformed) {
      throw new IOException("the reply of /tokenize is not JSON", malformed);
    }
  }

  private static byte @Nullable [] string(byte[] object, String field) throws IOException {
    try (JsonParser json = Json.parser(object)) {
      if (json.nextToken() != JsonToken.START_OBJECT) {
        return null;
      }
      while (json.nextToken() == JsonToken.PROPERTY_NAME) {
        boolean wanted = json.currentName().equals(field);
        JsonToken value = json.nextToken();
        if (wanted && value == JsonToken.VALUE_STRING) {
          return json.getString().getBytes(StandardCharsets.UTF_8);
        }
        json.skipChildren();
      }
      return null;
    } catch (JacksonException malformed) {
      throw new IOException("not JSON", malformed);
    }
  }
}
