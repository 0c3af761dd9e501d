package dev.flotilla.engine.serve;

import dev.flotilla.engine.RequestRefused;
import dev.flotilla.wire.openai.ApiError;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.random.RandomGenerator;

/** The model's name, and the names of replies and calls. */
final class Names {
  private final String model;
  private final String fingerprint;
  private final InstantSource clock;
  private final RandomGenerator random;

  Names(String model, String build, InstantSource clock, RandomGenerator random) {
    this.model = model;
    this.fingerprint = "builtin-" + build;
    this.clock = clock;
    this.random = random;
  }

  /** A request may leave the model out, but not name another. */
  void checkModel(Fields fields) {
    checkModel(fields.text("model").orElse(model));
  }

  /** This server has one model. */
  void checkModel(String asked) {
    if (!asked.equals(model)) {
      throw new RequestRefused(
          new ApiError(
              404,
              "invalid_request_error",
              "model_not_found",
              "the model "
                  + dev.flotilla.wire.text.Names.shown(asked)
                  + " does not exist here; this server has "
                  + model,
              "model",
              null));
    }
  }

  ReplyHead head(boolean chat, String reasoningField, int promptTokens) {
    String id = (chat ? "chatcmpl-" : "cmpl-") + hex(16);
    long created = clock.instant().getEpochSecond();
    return new ReplyHead(chat, id, created, model, fingerprint, reasoningField, promptTokens);
  }

  String callId() {
    return "call_" + hex(12);
  }

  private String hex(int bytes) {
    byte[] id = new byte[bytes];
    random.nextBytes(id);
    return HexFormat.of().formatHex(id);
  }
}
