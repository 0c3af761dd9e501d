package dev.flotilla.shape.probe;

import dev.flotilla.shape.probe.Probe.Embedded;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import tools.jackson.databind.JsonNode;

/** What follows from the vectors of a reply, apart from where they point. */
final class EmbeddingFacts {
  /** How far from 1 the length of a vector may be: some engines write few digits. */
  private static final double LENGTH_TOLERANCE = 0.01;

  /** Two vectors of one text: the order of sums may differ from slot to slot. */
  private static final double SAME_COSINE = 0.999;

  private EmbeddingFacts() {}

  static Map<String, String> of(Probe probe, JsonNode reply) {
    Map<String, String> facts = new LinkedHashMap<>();
    List<double[]> vectors = new ArrayList<>();
    Set<String> numbers = new TreeSet<>();
    Set<String> lengths = new TreeSet<>();
    boolean counted = true;
    for (JsonNode each : reply.path("data")) {
      counted &= each.path("index").asInt(-1) == vectors.size();
      double[] vector = vector(each.path("embedding"));
      vectors.add(vector);
      numbers.add(numbers(vector));
      lengths.add(
          Math.abs(Math.sqrt(dot(vector, vector)) - 1) <= LENGTH_TOLERANCE ? "1" : "another");
    }
    facts.put("order of indexes", counted ? "counted from 0" : "another");
    facts.put("vectors", sizes(vectors));
    facts.put("numbers", String.join(" or ", numbers));
    facts.put("length of vectors", String.join(" or ", lengths));
    if (vectors.size() > 1) {
      facts.put("vectors of several texts", ofTheirTexts(probe, vectors));
    }
    facts.put("usage sum", usage(reply.path("usage")));
    return facts;
  }

  /** Its numbers, the bytes of base64 with the lowest first; none where it is neither. */
  private static double[] vector(JsonNode embedding) {
    if (embedding.isString()) {
      try {
        FloatBuffer floats =
            ByteBuffer.wrap(Base64.getDecoder().decode(embedding.stringValue()))
                .order(ByteOrder.LITTLE_ENDIAN)
                .asFloatBuffer();
        double[] vector = new double[floats.remaining()];
        Arrays.setAll(vector, floats::get);
        return vector;
      } catch (IllegalArgumentException notBase64) {
        return new double[0];
      }
    }
    return embedding.valueStream().mapToDouble(each -> each.asDouble(Double.NaN)).toArray();
  }

  private static String numbers(double[] vector) {
    if (Arrays.stream(vector).anyMatch(each -> !Double.isFinite(each))) {
      return "not finite";
    }
    return Arrays.stream(vector).allMatch(each -> each == 0) ? "all 0" : "finite";
  }

  private static String sizes(List<double[]> vectors) {
    Set<Integer> sizes = new TreeSet<>();
    vectors.forEach(each -> sizes.add(each.length));
    if (sizes.size() == 1) {
      int size = sizes.iterator().next();
      return size == 0 ? "without numbers" : size + " numbers each";
    }
    return sizes.isEmpty() ? "none" : "of several sizes";
  }

  private static String ofTheirTexts(Probe probe, List<double[]> vectors) {
    boolean repeats = probe.wanted() instanceof Embedded wanted && wanted.repeats();
    double[] first = vectors.getFirst();
    if (cosine(first, vectors.get(1)) > SAME_COSINE) {
      return "the same for another text";
    }
    return repeats && cosine(first, vectors.getLast()) < SAME_COSINE
        ? "another for the same text"
        : "each its own";
  }

  private static double cosine(double[] one, double[] other) {
    double lengths = Math.sqrt(dot(one, one) * dot(other, other));
    return one.length != other.length || lengths == 0 ? 0 : dot(one, other) / lengths;
  }

  private static double dot(double[] one, double[] other) {
    double sum = 0;
    for (int i = 0; i < one.length; i++) {
      sum += one[i] * other[i];
    }
    return sum;
  }

  /** All tokens are the input's. */
  private static String usage(JsonNode usage) {
    if (!usage.isObject()) {
      return "no usage";
    }
    long prompt = usage.path("prompt_tokens").asLong(-1);
    long total = usage.path("total_tokens").asLong(-1);
    if (prompt < 0 || total < 0) {
      return "not two counts";
    }
    return prompt == 0
        ? "no prompt tokens"
        : prompt + usage.path("completion_tokens").asLong(0) == total
            ? "adds up"
            : "does not add up";
  }
}
