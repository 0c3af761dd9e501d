package dev.flotilla.engine.serve;

import dev.flotilla.engine.serve.AnswerReader.Said;
import dev.flotilla.wire.openai.ApiError;
import java.io.IOException;
import java.util.List;

/** Where the answers of one request go. */
interface ReplySink {
  /** An answer said something, or has ended, or both. */
  void said(AnswerReader answer, Said said, List<AnswerReader> all) throws IOException;

  /** Nobody has said anything for a while. */
  void quiet() throws IOException;

  /** All answers have ended. */
  void done(List<AnswerReader> all) throws IOException;

  /** An answer failed. */
  void failed(ApiError error) throws IOException;
}
