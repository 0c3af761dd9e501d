package dev.flotilla.wire.openai;

import dev.flotilla.wire.openai.RequestScan.Endpoint;
import dev.flotilla.wire.openai.RequestScan.Field;
import dev.flotilla.wire.openai.RequestScan.Refused;
import dev.flotilla.wire.openai.RequestScan.Scanned;
import dev.flotilla.wire.openai.RequestScan.Span;
import dev.flotilla.wire.text.Json;
import dev.flotilla.wire.text.Names;
import dev.flotilla.wire.text.Utf8;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.exc.StreamConstraintsException;

/** Reads one request's body; see {@link RequestScan}. Made for one body and read once. */
final class RequestReader {
  private static final Set<String> TEXT_PARTS = Set.of("text", "input_text", "refusal");

  /** Longer names are not worth repeating to whoever made them up. */
  private static final int PARAM_CHARS_MAX = 64;

  private final Endpoint endpoint;
  private final byte[] body;
  private final boolean named;
  private final RequestFields fields = new RequestFields();

  /**
   * @param named whether the model has to be named
   */
  RequestReader(Endpoint endpoint, byte[] body, boolean named) {
    this.endpoint = endpoint;
    this.body = body;
    this.named = named;
  }

  RequestScan read() {
    try {
      return new Scanned(body, fields());
    } catch (BadRequest e) {
      return new Refused(e.error());
    } catch (StreamConstraintsException _) {
      return new Refused(
          ApiError.badRequest(
              "invalid_json",
              "the body nests deeper than "
                  + Json.DEPTH_MAX
                  + " levels, or has a name longer than "
                  + Json.NAME_CHARS_MAX
                  + " or a number longer than "
                  + Json.NUMBER_CHARS_MAX
                  + " characters",
              null));
    } catch (JacksonException e) {
      return new Refused(
          ApiError.badRequest("invalid_json", "the body is not valid JSON" + place(e), null));
    }
  }

  private RequestFields fields() throws BadRequest {
    int first = 0;
    while (first < body.length
        && (body[first] == ' '
            || body[first] == '\t'
            || body[first] == '\n'
            || body[first] == '\r')) {
      first++;
    }
    if (first == body.length) {
      throw BadRequest.invalid("invalid_json", "the body is empty; it must be one JSON object");
    }
    if (body[first] != '{') {
      throw BadRequest.invalid("invalid_json", "the body must be one JSON object");
    }
    if (!Utf8.isValid(body, 0, body.length)) {
      throw BadRequest.invalid("invalid_json", "the body is not valid UTF-8");
    }
    try (JsonParser parser = Json.parser(body, 0, body.length)) {
      parser.nextToken();
      while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
        String name = parser.currentName();
        int keyFrom = start(parser);
        if (fields.byName.containsKey(name)) {
          throw new BadRequest(
              "duplicate_field",
              "the body has the field " + Names.shown(name) + " twice; each may be there once",
              name.length() <= PARAM_CHARS_MAX ? name : null);
        }
        if (fields.all.size() == RequestScan.FIELDS_MAX) {
          throw BadRequest.invalid(
              "invalid_value",
              "the body has more than " + RequestScan.FIELDS_MAX + " top-level fields");
        }
        boolean nothing = parser.nextToken() == JsonToken.VALUE_NULL;
        int valueFrom = start(parser);
        field(parser, name);
        Field read = new Field(name, keyFrom, valueFrom, end(parser), nothing);
        fields.all.add(read);
        fields.byName.put(name, read);
      }
      if (parser.nextToken() != null) {
        throw BadRequest.invalid(
            "invalid_json", "the body must be one JSON object and nothing after it");
      }
    }
    if (named) {
      require("model", "the name of a model; GET /v1/models lists them");
    }
    require(endpoint.field(), "what the model is to answer to");
    return fields;
  }

  private void require(String name, String what) throws BadRequest {
    if (!fields.byName.containsKey(name)) {
      throw BadRequest.missing(name, what);
    }
  }

  private void field(JsonParser parser, String name) throws BadRequest {
    switch (name) {
      case "model" -> model(parser);
      case "stream" -> fields.stream = bool(parser, name);
      case "stream_options" -> streamOptions(parser);
      case "n" -> fields.n = (int) integer(parser, name, 1, RequestScan.ANSWERS_MAX, 1);
      // -1 is llama.cpp's word for no limit.
      case "max_tokens" -> fields.maxTokens = integer(parser, name, -1, Integer.MAX_VALUE, -1);
      case "max_completion_tokens" ->
          fields.maxCompletionTokens = integer(parser, name, -1, Integer.MAX_VALUE, -1);
      case "messages" -> messages(parser);
      case "tools" -> tools(parser);
      case "prompt", "input" -> content(parser, name);
      default -> option(parser, name);
    }
  }

  /**
   * What OpenAI gives a type is refused here with any other, since some engines run into such a
   * value and call it a failure of their own. {@code null} is always the same as nothing.
   */
  private void option(JsonParser parser, String name) throws BadRequest {
    JsonToken token = parser.currentToken();
    if (endpoint == Endpoint.EMBEDDINGS || token == JsonToken.VALUE_NULL) {
      parser.skipChildren();
      return;
    }
    boolean text = token == JsonToken.VALUE_STRING;
    boolean object = token == JsonToken.START_OBJECT;
    switch (name) {
      case "temperature", "top_p", "presence_penalty", "frequency_penalty", "seed" ->
          require(token != null && token.isNumeric(), name, "a number");
      case "response_format" -> require(object, name, "an object");
      case "tool_choice" -> require(text || object, name, "a string or an object");
      case "parallel_tool_calls" ->
          require(token != null && token.isBoolean(), name, "true or false");
      case "stop" -> {
        require(text || token == JsonToken.START_ARRAY, name, "a string or a list of strings");
        strings(parser, name);
      }
      default -> {
        // Nothing is known of it: it passes.
      }
    }
    parser.skipChildren();
  }

  private static void require(boolean right, String name, String wanted) throws BadRequest {
    if (!right) {
      throw BadRequest.wrongType(name, wanted);
    }
  }

  /** Reads a list of strings to its end; one string passes. */
  private static void strings(JsonParser parser, String name) throws BadRequest {
    if (parser.currentToken() == JsonToken.VALUE_STRING) {
      return;
    }
    for (int i = 0; parser.nextToken() != JsonToken.END_ARRAY; i++) {
      require(parser.currentToken() == JsonToken.VALUE_STRING, name + "[" + i + "]", "a string");
    }
  }

  private void model(JsonParser parser) throws BadRequest {
    if (parser.currentToken() == JsonToken.VALUE_NULL) {
      if (!named) {
        return;
      }
      throw BadRequest.missing("model", "the name of a model; GET /v1/models lists them");
    }
    if (parser.currentToken() != JsonToken.VALUE_STRING) {
      throw BadRequest.wrongType("model", "a string");
    }
    String model = parser.getString();
    if (model.isEmpty() || model.length() > RequestScan.MODEL_CHARS_MAX) {
      throw new BadRequest(
          "invalid_value",
          "\"model\" has "
              + model.length()
              + " characters; 1 to "
              + RequestScan.MODEL_CHARS_MAX
              + " are allowed",
          "model");
    }
    if (!wholeCharacters(model)) {
      throw new BadRequest(
          "invalid_value", "\"model\" holds a control character or half a character", "model");
    }
    fields.model = model;
  }

  private static boolean wholeCharacters(String text) {
    for (int i = 0; i < text.length(); ) {
      int codePoint = text.codePointAt(i);
      boolean half = codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE;
      if (half || Character.isISOControl(codePoint)) {
        return false;
      }
      i += Character.charCount(codePoint);
    }
    return true;
  }

  private void streamOptions(JsonParser parser) throws BadRequest {
    if (parser.currentToken() == JsonToken.VALUE_NULL) {
      return;
    }
    if (parser.currentToken() != JsonToken.START_OBJECT) {
      throw BadRequest.wrongType("stream_options", "an object");
    }
    boolean named = false;
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      boolean usage = parser.currentName().equals("include_usage");
      parser.nextToken();
      if (!usage) {
        parser.skipChildren();
        continue;
      }
      if (named) {
        throw new BadRequest(
            "duplicate_field",
            "\"stream_options\" has the field \"include_usage\" twice",
            "stream_options.include_usage");
      }
      named = true;
      fields.includeUsage = bool(parser, "stream_options.include_usage");
    }
  }

  private void messages(JsonParser parser) throws BadRequest {
    if (endpoint != Endpoint.CHAT) {
      parser.skipChildren();
      return;
    }
    if (parser.currentToken() == JsonToken.VALUE_NULL) {
      throw BadRequest.missing("messages", "a list of messages");
    }
    if (parser.currentToken() != JsonToken.START_ARRAY) {
      throw BadRequest.wrongType("messages", "a list of messages");
    }
    int start = start(parser);
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      if (parser.currentToken() != JsonToken.START_OBJECT) {
        throw BadRequest.wrongType(
            "messages[" + fields.messages + "]", "an object with role and content");
      }
      message(parser, "messages[" + fields.messages + "]");
      fields.messages++;
    }
    if (fields.messages == 0) {
      throw new BadRequest(
          "invalid_value", "\"messages\" is empty; it needs at least one message", "messages");
    }
    fields.contentBytes = end(parser) - start;
  }

  /** Reads one message to its end. */
  private void message(JsonParser parser, String message) throws BadRequest {
    boolean found = false;
    fields.lastCallsTools = false;
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      String name = parser.currentName();
      JsonToken value = parser.nextToken();
      switch (name) {
        case "role" -> {
          role(parser, message);
          found = true;
        }
        case "content" -> {
          if (value == JsonToken.START_ARRAY) {
            parts(parser);
          }
        }
        case "tool_calls" -> fields.lastCallsTools |= value == JsonToken.START_ARRAY;
        default -> {
          // Nothing is known of it: it passes.
        }
      }
      parser.skipChildren();
    }
    if (!found) {
      throw new BadRequest(
          "missing_required_parameter",
          "\"" + message + "\" has no \"role\", such as \"user\"",
          message + ".role");
    }
  }

  private void role(JsonParser parser, String message) throws BadRequest {
    require(
        parser.currentToken() == JsonToken.VALUE_STRING,
        message + ".role",
        "a string, such as \"user\"");
    fields.lastRole = parser.getString();
    if (fields.lastRole.equals("developer")) {
      fields.developerRoles.add(new Span(start(parser), end(parser)));
    }
  }

  /** Reads a message's parts to their end. */
  private void parts(JsonParser parser) {
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      if (parser.currentToken() != JsonToken.START_OBJECT) {
        parser.skipChildren();
        continue;
      }
      while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
        boolean type = parser.currentName().equals("type");
        if (parser.nextToken() == JsonToken.VALUE_STRING && type) {
          fields.media |= !TEXT_PARTS.contains(parser.getString());
        }
        parser.skipChildren();
      }
    }
  }

  private void tools(JsonParser parser) throws BadRequest {
    int start = start(parser);
    if (endpoint != Endpoint.CHAT || parser.currentToken() == JsonToken.VALUE_NULL) {
      parser.skipChildren();
      return;
    }
    require(parser.currentToken() == JsonToken.START_ARRAY, "tools", "a list of tools");
    for (int i = 0; parser.nextToken() != JsonToken.END_ARRAY; i++) {
      require(parser.currentToken() == JsonToken.START_OBJECT, "tools[" + i + "]", "an object");
      parser.skipChildren();
      fields.tools = true;
    }
    fields.toolsBytes = end(parser) - start;
  }

  private void content(JsonParser parser, String name) throws BadRequest {
    if (!endpoint.field().equals(name)) {
      parser.skipChildren();
      return;
    }
    JsonToken token = parser.currentToken();
    if (token == JsonToken.VALUE_NULL) {
      throw BadRequest.missing(name, "what the model is to answer to");
    }
    if (token != JsonToken.VALUE_STRING && token != JsonToken.START_ARRAY) {
      throw BadRequest.wrongType(name, "a string or a list");
    }
    int start = start(parser);
    parser.skipChildren();
    fields.contentBytes = end(parser) - start;
  }

  private static boolean bool(JsonParser parser, String name) throws BadRequest {
    return switch (parser.currentToken()) {
      case VALUE_TRUE -> true;
      case VALUE_FALSE, VALUE_NULL -> false;
      case null, default -> throw BadRequest.wrongType(name, "true or false");
    };
  }

  private static long integer(JsonParser parser, String name, long min, long max, long otherwise)
      throws BadRequest {
    if (parser.currentToken() == JsonToken.VALUE_NULL) {
      return otherwise;
    }
    if (parser.currentToken() != JsonToken.VALUE_NUMBER_INT) {
      throw BadRequest.wrongType(name, "an integer");
    }
    boolean fits =
        switch (parser.getNumberType()) {
          case INT, LONG -> parser.getLongValue() >= min && parser.getLongValue() <= max;
          case null, default -> false;
        };
    if (!fits) {
      throw new BadRequest(
          "invalid_value", "\"" + name + "\" must be from " + min + " to " + max, name);
    }
    return parser.getLongValue();
  }

  private static int start(JsonParser parser) {
    return (int) parser.currentTokenLocation().getByteOffset();
  }

  /** Where the current value ends; a string is read to its end first. */
  private static int end(JsonParser parser) {
    parser.finishToken();
    return (int) parser.currentLocation().getByteOffset();
  }

  private static String place(JacksonException e) {
    TokenStreamLocation location = e.getLocation();
    return location == null || location.getByteOffset() < 0
        ? ""
        : " at byte " + location.getByteOffset();
  }
}
