package dev.flotilla.shape.probe;

import static dev.flotilla.shape.probe.ProbeFields.body;

import dev.flotilla.shape.dialect.Feature;
import dev.flotilla.shape.probe.Probe.Embedded;
import dev.flotilla.shape.probe.Probe.Free;
import java.util.List;

/**
 * What a server of embeddings is asked: one text and several, tokens, the two ways to write a
 * vector, another length, refusals. The first text of several is the last one, too, so that it
 * shows whether each vector is that of its own text. Tokens are of small numbers, which every
 * vocabulary has.
 */
final class EmbeddingProbes {
  private static final String TEXT = "\"input\":\"The river runs to the sea.\"";
  private static final Embedded ONE = new Embedded(1, false, 0, false);
  private static final int SHORTER = 8;

  static final List<Probe> ALL =
      List.of(
          Probe.embedding("embedding", "the vector of one text", body(TEXT)).gives(ONE),
          Probe.embedding(
                  "embedding-list",
                  "the vectors of several texts, in their order",
                  body(
                      "\"input\":[\"The river runs.\",\"Two and two is four.\",\"The river runs.\"]"))
              .gives(new Embedded(3, true, 0, false)),
          Probe.embedding(
                  "embedding-float",
                  "numbers, asked for",
                  body(TEXT, "\"encoding_format\":\"float\""))
              .gives(ONE),
          Probe.embedding(
                  "embedding-base64",
                  "the vector's bytes in base64",
                  body(TEXT, "\"encoding_format\":\"base64\""))
              .gives(new Embedded(1, false, 0, true)),
          Probe.embedding(
                  "embedding-tokens", "the vector of tokens", body("\"input\":[20,21,22,23]"))
              .gives(ONE),
          Probe.embedding(
                  "embedding-token-lists",
                  "the vectors of several lists of tokens",
                  body("\"input\":[[20,21,22],[40,41],[20,21,22]]"))
              .gives(new Embedded(3, true, 0, false)),
          Probe.embedding(
                  "embedding-unicode",
                  "a text with characters of several bytes",
                  body("\"input\":\"Über größere 日本 — 🦊\""))
              .gives(ONE),
          Probe.embedding(
                  "embedding-user",
                  "a text with its user's name",
                  body(TEXT, "\"user\":\"somebody\""))
              .gives(ONE),
          Probe.embedding(
                  "embedding-unknown-field",
                  "a field that nobody knows, which passes",
                  body(TEXT, "\"x_unknown_field\":{\"a\":[1]}"))
              .gives(ONE),
          Probe.embedding(
                  "embedding-dimensions",
                  "a shorter vector, where the model has such",
                  body(TEXT, "\"dimensions\":" + SHORTER))
              .needs(Feature.DIMENSIONS)
              .free(Free.DIMENSIONS)
              .gives(new Embedded(1, false, SHORTER, false)),
          Probe.embedding(
                  "embedding-no-json",
                  "a body that is no JSON",
                  "{\"model\":\"$MODEL\",\"input\":[")
              .isRefused(400),
          Probe.embedding(
                  "embedding-no-input", "nothing to make a vector of", body("\"user\":\"a\""))
              .isRefused(400),
          Probe.embedding("embedding-empty", "an empty text", body("\"input\":\"\""))
              .isRefused(400),
          Probe.embedding("embedding-empty-list", "a list of no texts", body("\"input\":[]"))
              .isRefused(400),
          Probe.embedding(
                  "embedding-empty-among",
                  "an empty text among others",
                  body("\"input\":[\"a\",\"\"]"))
              .isRefused(400),
          Probe.embedding("embedding-bad-input", "an input of a wrong type", body("\"input\":5"))
              .isRefused(400),
          Probe.embedding(
                  "embedding-bad-format",
                  "an encoding_format that there is not",
                  body(TEXT, "\"encoding_format\":\"hex\""))
              .isRefused(400),
          Probe.embedding(
                  "embedding-unknown-model",
                  "a model that there is not",
                  "{\"model\":\"no-such-model\"," + TEXT + "}")
              .isRefused(404, "model_not_found"),
          Probe.embedding(
                  "embedding-too-long",
                  "a text longer than the context",
                  body("\"input\":\"$LONG$LONG\""))
              .isRefused(400, "context_length_exceeded"));

  private EmbeddingProbes() {}
}
