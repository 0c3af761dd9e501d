package dev.flotilla.engine.serve;

import dev.flotilla.engine.Ending;
import dev.flotilla.engine.Engine;
import dev.flotilla.engine.Generation;
import dev.flotilla.engine.GenerationRequest;
import dev.flotilla.engine.Pooling;
import dev.flotilla.engine.RequestRefused;
import dev.flotilla.engine.Wakeup;
import dev.flotilla.server.http.ClientConnection;
import io.helidon.http.HeaderValues;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.http.ServerResponse;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * {@code /v1/embeddings}: of each text one vector of length 1.
 *
 * <p>All texts are read and measured before the first is computed. Then as many as there are slots
 * are with the engine at a time, so one request of many texts leaves the queue to others; their
 * vectors are held until the last is there, and written one by one.
 */
final class Embeddings {
  /** Texts of one request, as OpenAI limits them. */
  static final int INPUTS_MAX = 2_048;

  /** Bytes of one request's vectors. */
  static final int VECTORS_BYTES_MAX = 8 << 20;

  private final Engine engine;
  private final ServedModel model;
  private final Prompts prompts;
  private final Bodies bodies;
  private final Names names;
  private final Duration keepAlive;

  Embeddings(
      Engine engine,
      ServedModel model,
      Prompts prompts,
      Bodies bodies,
      Names names,
      Duration keepAlive) {
    this.engine = engine;
    this.model = model;
    this.prompts = prompts;
    this.bodies = bodies;
    this.names = names;
    this.keepAlive = keepAlive;
  }

  void answer(ObjectNode body, ServerResponse response) {
    Fields fields = new Fields(body, "");
    names.checkModel(fields);
    if (model.pooling() == Pooling.NONE) {
      throw RequestRefused.notCapable(
          "model", "the file of " + model.name() + " wants a pooling that is not computed");
    }
    List<int[]> inputs = inputs(fields);
    boolean base64 = isBase64(fields);
    checkDimensions(fields);
    fields.allow("user");
    fields.refuseOthers();
    inputs.forEach(each -> engine.checkInput(each.length));
    long bytes = (long) inputs.size() * engine.width() * Float.BYTES;
    bodies.holding(bytes, () -> write(response, inputs, vectors(inputs), base64));
  }

  private static boolean isBase64(Fields fields) {
    String format = fields.text("encoding_format").orElse("float");
    if (!format.equals("float") && !format.equals("base64")) {
      throw RequestRefused.field("encoding_format", "encoding_format must be float or base64");
    }
    return format.equals("base64");
  }

  /** A shorter vector means something only where a model was trained for it; no file says so. */
  private void checkDimensions(Fields fields) {
    fields
        .whole("dimensions", 1, Integer.MAX_VALUE)
        .ifPresent(wanted -> {
          if (wanted != engine.width()) {
            throw RequestRefused.notCapable(
                "dimensions",
                "this model's vectors have %d numbers and can't have %d; leave dimensions out"
                    .formatted(engine.width(), wanted));
          }
        });
  }

  private List<int[]> inputs(Fields fields) {
    JsonNode input =
        fields.any("input").orElseThrow(() -> RequestRefused.missing("input", "input is missing"));
    if (input.isString()) {
      return List.of(text(input, "input"));
    }
    if (!(input instanceof ArrayNode list)) {
      throw fields.wrong("input", "a text, a list of texts, or token numbers", input);
    }
    if (list.isEmpty()) {
      throw RequestRefused.field(
          "input", "input is an empty list: there is nothing to make a vector of");
    }
    if (list.get(0).isNumber()) {
      return List.of(prompts.numbers("input", list));
    }
    int most = Math.min(INPUTS_MAX, VECTORS_BYTES_MAX / Float.BYTES / engine.width());
    if (list.size() > most) {
      throw RequestRefused.field(
          "input", "input has %d texts; at most %d are allowed".formatted(list.size(), most));
    }
    List<int[]> all = new ArrayList<>();
    for (int i = 0; i < list.size(); i++) {
      all.add(text(list.get(i), "input[" + i + "]"));
    }
    return all;
  }

  private int[] text(JsonNode input, String place) {
    int[] tokens;
    if (input.isString()) {
      tokens = prompts.toEmbed(input.stringValue());
    } else if (input instanceof ArrayNode list) {
      tokens = prompts.numbers(place, list);
    } else {
      throw RequestRefused.type(place, place + " must be a text or a list of token numbers");
    }
    if (tokens.length == 0) {
      throw RequestRefused.field(
          place, place + " has no token: there is nothing to make a vector of");
    }
    return tokens;
  }

  /** The vectors of all texts; whatever happens, the engine works on none of them afterwards. */
  private float[][] vectors(List<int[]> inputs) {
    Queue<Generation> open = new ConcurrentLinkedQueue<>();
    ClientConnection client = ClientConnection.current();
    Wakeup wakeup = new Wakeup();
    client.onCut(() -> {
      open.forEach(engine::cancel);
      wakeup.signal();
    });
    try {
      return vectors(inputs, open, client, wakeup);
    } catch (InterruptedException stopping) {
      Thread.currentThread().interrupt();
      throw new CloseConnectionException("the server stops", stopping);
    } finally {
      open.forEach(engine::cancel);
    }
  }

  private float[][] vectors(
      List<int[]> inputs, Queue<Generation> open, ClientConnection client, Wakeup wakeup)
      throws InterruptedException {
    float[][] vectors = new float[inputs.size()][];
    int asked = 0;
    int done = 0;
    while (done < vectors.length) {
      if (client.timeIsOver()) {
        throw new RequestRefused(EngineServer.STOPPING);
      }
      while (asked < vectors.length && open.size() < engine.limits().sequencesMax()) {
        GenerationRequest request = GenerationRequest.vector(inputs.get(asked), model.pooling());
        open.addAll(engine.submit(request, 1, wakeup));
        asked++;
        if (client.isGone()) {
          throw new CloseConnectionException("the client is gone");
        }
      }
      Generation first = open.element();
      Ending ending = first.ending();
      if (ending == null) {
        wakeup.await(keepAlive.toNanos());
      } else if (ending == Ending.STOP) {
        open.remove();
        vectors[done] = unit(first);
        done++;
      } else if (ending == Ending.CANCELLED && !client.timeIsOver()) {
        throw new CloseConnectionException("the client is gone");
      } else if (ending != Ending.CANCELLED) {
        throw new RequestRefused(Answering.failed(first.failure()));
      }
    }
    return vectors;
  }

  /** The sum as a vector of length 1, so that the mean need not be taken. */
  private static float[] unit(Generation generation) {
    double[] sum = generation.sum();
    if (sum == null) {
      throw new IllegalStateException("an answer where a vector was asked for");
    }
    double square = 0;
    for (double each : sum) {
      square += each * each;
    }
    if (!Double.isFinite(square)) {
      throw new RequestRefused(Answering.failed("the model's numbers have no length"));
    }
    double scale = square == 0 ? 0 : 1 / Math.sqrt(square);
    float[] unit = new float[sum.length];
    for (int i = 0; i < unit.length; i++) {
      unit[i] = (float) (sum[i] * scale);
    }
    return unit;
  }

  private void write(
      ServerResponse response, List<int[]> inputs, float[][] vectors, boolean base64) {
    int tokens = inputs.stream().mapToInt(each -> each.length).sum();
    response.header(HeaderValues.CONTENT_TYPE_JSON);
    try (OutputStream out = response.outputStream()) {
      put(out, "{\"object\":\"list\",\"data\":[");
      for (int i = 0; i < vectors.length; i++) {
        put(out, (i == 0 ? "" : ",") + "{\"object\":\"embedding\",\"index\":" + i);
        put(out, ",\"embedding\":" + (base64 ? base64(vectors[i]) : numbers(vectors[i])) + "}");
      }
      put(out, "],\"model\":" + Json.quoted(model.name()));
      put(out, ",\"usage\":{\"prompt_tokens\":" + tokens + ",\"total_tokens\":" + tokens + "}}");
    } catch (IOException | UncheckedIOException gone) {
      throw new CloseConnectionException("the client is gone", gone);
    }
  }

  private static void put(OutputStream out, String text) throws IOException {
    out.write(text.getBytes(StandardCharsets.UTF_8));
  }

  private static String numbers(float[] vector) {
    StringBuilder list = new StringBuilder(vector.length * 13);
    for (float each : vector) {
      list.append(list.isEmpty() ? '[' : ',').append(each);
    }
    return list.append(']').toString();
  }

  /** The numbers' bytes, the lowest first, as OpenAI's clients read them. */
  private static String base64(float[] vector) {
    ByteBuffer bytes =
        ByteBuffer.allocate(vector.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    for (float each : vector) {
      bytes.putFloat(each);
    }
    return '"' + Base64.getEncoder().encodeToString(bytes.array()) + '"';
  }
}
