package dev.flotilla.testkit.scripted;

import com.google.errorprone.annotations.Immutable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Base64;
import java.util.function.Consumer;
import java.util.function.DoubleUnaryOperator;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** A way in which an engine says something else of embeddings than the API has it. */
public enum EmbeddingLie {
  // What was asked for and is not done.
  BASE64_IGNORED(
      "gives numbers, whatever is asked for", ask -> ask.remove("encoding_format"), _ -> {}),
  DIMENSIONS_IGNORED("gives vectors of its own length", ask -> ask.remove("dimensions"), _ -> {}),
  LIST_CUT(
      "makes one vector of a list",
      ask -> {
        if (ask.path("input").path(0).isString()) {
          ask.set("input", ask.path("input").path(0));
        }
      },
      _ -> {}),
  LISTS_JOINED(
      "makes one vector of several lists of tokens",
      ask -> {
        if (ask.path("input").path(0).isArray()) {
          ask.set("input", ask.path("input").path(0));
        }
      },
      _ -> {}),
  EMPTY_ANSWERED(
      "makes a vector of nothing",
      ask -> {
        if (ask.path("input").asString("-").isEmpty()) {
          ask.put("input", "nothing");
        }
      },
      _ -> {}),
  TYPES_IGNORED(
      "makes a vector of a number",
      ask -> {
        if (ask.path("input").isNumber()) {
          ask.put("input", ask.path("input").toString());
        }
      },
      _ -> {}),
  FORMAT_INVENTED(
      "takes a format that there is not",
      ask -> {
        if (ask.path("encoding_format").asString("").equals("hex")) {
          ask.remove("encoding_format");
        }
      },
      _ -> {}),
  TOO_LONG_CUT(
      "cuts a text that is too long",
      ask -> {
        String text = ask.path("input").asString("");
        if (text.length() > 2_000) {
          ask.put("input", text.substring(0, 100));
        }
      },
      _ -> {}),
  TOKENS_AS_TEXT(
      "refuses tokens",
      ask -> {
        if (ask.path("input").path(0).isNumber()) {
          ask.putNull("input");
        }
      },
      _ -> {}),

  // The vectors.
  ALL_ALIKE(
      "has one vector for all texts",
      _ -> {},
      body -> {
        JsonNode first = body.at("/data/0/embedding");
        each(body, item -> item.set("embedding", first));
      }),
  SWAPPED(
      "gives the vectors in another order than the texts",
      _ -> {},
      body -> {
        if (body.path("data").size() > 1) {
          JsonNode first = body.at("/data/0/embedding");
          ((ObjectNode) body.at("/data/0")).set("embedding", body.at("/data/1/embedding"));
          ((ObjectNode) body.at("/data/1")).set("embedding", first);
        }
      }),
  INDEXES_ALL_0("counts no vectors", _ -> {}, body -> each(body, item -> item.put("index", 0))),
  INDEXES_FROM_1(
      "counts its vectors from 1",
      _ -> {},
      body -> each(body, item -> item.put("index", item.path("index").asInt() + 1))),
  ZEROS("gives vectors of zeros", _ -> {}, body -> eachNumber(body, _ -> 0)),
  LONG_VECTORS("gives vectors of any length", _ -> {}, body -> eachNumber(body, each -> each * 7)),
  /** Seen only beside another: alone it may be the model's. */
  HALF_AS_LONG("gives half of a vector", _ -> {}, EmbeddingLie::halve),
  NESTED(
      "gives a vector for each token",
      _ -> {},
      body ->
          each(
              body,
              item -> {
                if (item.path("embedding").isArray()) {
                  ArrayNode nested = ReceivedRequest.JSON.createArrayNode();
                  nested.add(item.path("embedding"));
                  item.set("embedding", nested);
                }
              })),
  BYTES_SWAPPED(
      "writes a number's highest byte first",
      _ -> {},
      body ->
          each(
              body,
              item -> {
                if (item.path("embedding").isString()) {
                  item.put("embedding", swapped(item.path("embedding").stringValue()));
                }
              })),

  // Around them.
  USAGE_MISSING("does not say what it cost", _ -> {}, body -> body.remove("usage")),
  USAGE_OF_ONE(
      "counts the answer's tokens, too",
      _ -> {},
      body -> {
        if (body.get("usage") instanceof ObjectNode usage) {
          usage.put("total_tokens", usage.path("prompt_tokens").asInt() + 3);
        }
      }),
  OBJECT_MISSING("does not say what it gives", _ -> {}, body -> body.remove("object")),
  DATA_RENAMED(
      "calls its vectors embeddings",
      _ -> {},
      body -> {
        if (body.has("data")) {
          body.set("embeddings", body.remove("data"));
        }
      });

  private final String words;
  private final Change ask;
  private final Change tell;

  /** What is otherwise; it has no state. */
  @Immutable
  private interface Change extends Consumer<ObjectNode> {}

  EmbeddingLie(String words, Change ask, Change tell) {
    this.words = words;
    this.ask = ask;
    this.tell = tell;
  }

  /** What it does, in words. */
  public String words() {
    return words;
  }

  void ask(ObjectNode request) {
    ask.accept(request);
  }

  void tell(PlannedReply reply) {
    if (!reply.isError()) {
      reply.objects.forEach(tell);
    }
  }

  private static void each(ObjectNode body, Consumer<ObjectNode> change) {
    for (JsonNode item : body.path("data")) {
      change.accept((ObjectNode) item);
    }
  }

  private static void eachNumber(ObjectNode body, DoubleUnaryOperator change) {
    each(
        body,
        item -> {
          if (item.get("embedding") instanceof ArrayNode vector) {
            for (int i = 0; i < vector.size(); i++) {
              vector.set(i, change.applyAsDouble(vector.get(i).asDouble()));
            }
          }
        });
  }

  private static void halve(ObjectNode body) {
    each(
        body,
        item -> {
          if (item.get("embedding") instanceof ArrayNode vector) {
            int half = vector.size() / 2;
            double square = 0;
            for (int i = 0; i < half; i++) {
              square += vector.get(i).asDouble() * vector.get(i).asDouble();
            }
            ArrayNode halved = item.putArray("embedding");
            for (int i = 0; i < half; i++) {
              halved.add(vector.get(i).asDouble() / Math.sqrt(square));
            }
          }
        });
  }

  private static String swapped(String base64) {
    ByteBuffer bytes = ByteBuffer.wrap(Base64.getDecoder().decode(base64));
    ByteBuffer other = ByteBuffer.allocate(bytes.capacity()).order(ByteOrder.LITTLE_ENDIAN);
    while (bytes.hasRemaining()) {
      other.putInt(bytes.getInt());
    }
    return Base64.getEncoder().encodeToString(other.array());
  }
}
