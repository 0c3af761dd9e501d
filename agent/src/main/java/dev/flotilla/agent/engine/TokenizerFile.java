package dev.flotilla.agent.engine;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.json.JsonMapper;

/**
 * A folder's {@code tokenizer.json}, read for one thing: how many bytes of text a token can stand
 * for. The file has tens of megabytes, so it is read as a stream.
 */
final class TokenizerFile {
  private int longestText;
  private int longestChars;
  private boolean byteLevel;

  private TokenizerFile() {}

  /** Bytes of the longest token, 0 where the folder has no such file or it can't be read. */
  static int longestTokenBytes(Path folder) {
    Path file = folder.resolve("tokenizer.json");
    if (!Files.isRegularFile(file)) {
      return 0;
    }
    TokenizerFile reader = new TokenizerFile();
    try (JsonParser parser = JsonMapper.shared().createParser(Files.newInputStream(file))) {
      reader.read(parser);
    } catch (IOException | JacksonException e) {
      return 0;
    }
    // A byte-level vocabulary writes each byte as one character.
    return reader.byteLevel ? reader.longestChars : reader.longestText;
  }

  private void read(JsonParser parser) {
    while (parser.nextToken() != null) {
      if (parser.currentToken() != JsonToken.PROPERTY_NAME) {
        continue;
      }
      String name = parser.currentName();
      JsonToken value = parser.nextToken();
      if (name.equals("vocab") && value == JsonToken.START_OBJECT) {
        texts(parser);
      } else if (name.equals("vocab") && value == JsonToken.START_ARRAY) {
        pairs(parser);
      } else if (name.equals("merges")) {
        parser.skipChildren();
      } else if (name.equals("content") && value == JsonToken.VALUE_STRING) {
        token(parser.getString());
      } else if (name.equals("type") && value == JsonToken.VALUE_STRING) {
        byteLevel |= parser.getString().equals("ByteLevel");
      }
    }
  }

  /** {@code {"token": 7, …}}: BPE, WordPiece, WordLevel. */
  private void texts(JsonParser parser) {
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      token(parser.currentName());
      parser.nextToken();
    }
  }

  /** {@code [["token", -3.5], …]}: Unigram. */
  private void pairs(JsonParser parser) {
    while (parser.nextToken() == JsonToken.START_ARRAY) {
      if (parser.nextToken() == JsonToken.VALUE_STRING) {
        token(parser.getString());
      }
      while (parser.nextToken() != JsonToken.END_ARRAY) {
        // the rest of the pair
      }
    }
  }

  private void token(String text) {
    longestChars = Math.max(longestChars, text.codePointCount(0, text.length()));
    longestText = Math.max(longestText, text.getBytes(StandardCharsets.UTF_8).length);
  }
}
