package dev.flotilla.bench.load;

import dev.flotilla.bench.measure.RequestRecord.Kind;
import dev.flotilla.bench.measure.RequestRecord.Outcome.Failed;
import dev.flotilla.wire.connection.DeadlineExceeded;
import dev.flotilla.wire.http.ReplyMalformed;
import dev.flotilla.wire.openai.EngineError;
import java.io.IOException;
import java.time.Duration;
import javax.net.ssl.SSLException;

/** What went wrong with a request, as one kind and one sentence. */
final class Failures {
  private static final int SENTENCE_CHARS_MAX = 400;

  private Failures() {}

  static Failed cancelled() {
    return new Failed(Kind.CANCELLED, "the run was ended while it was under way");
  }

  /** No connection stood. */
  static Failed unconnected(IOException e) {
    return new Failed(e.getCause() instanceof SSLException ? Kind.TLS : Kind.CONNECT, words(e));
  }

  /** The exchange ended with an exception. */
  static Failed broken(IOException e, LoadLimits limits) {
    if (e instanceof DeadlineExceeded late) {
      return new Failed(
          Kind.TIMEOUT,
          switch (late.limit()) {
            case FIRST_BYTE -> "no output came within " + words(limits.firstOutput());
            case GAP -> "nothing more came for " + words(limits.gap());
            case WHOLE -> "the reply had no end after " + words(limits.whole());
          });
    }
    return new Failed(e instanceof ReplyMalformed ? Kind.MALFORMED : Kind.CUT, words(e));
  }

  /** A status other than 200. */
  static Failed status(int status, byte[] body) {
    String said = EngineError.parse(body).message();
    Kind kind = status == 429 || status == 503 ? Kind.REFUSED : Kind.STATUS;
    String hint =
        status == 400 && said.contains("continuous_usage_stats")
            ? " (leave it out with --no-continuous-usage)"
            : "";
    return new Failed(kind, sentence(status + (said.isEmpty() ? "" : ": " + said) + hint));
  }

  static Failed inBand(EngineError error) {
    return new Failed(
        Kind.IN_BAND,
        error.message().isEmpty()
            ? "the stream held an error without words"
            : sentence("the stream held an error: " + error.message()));
  }

  static Failed malformed(String sentence) {
    return new Failed(Kind.MALFORMED, sentence);
  }

  static String words(IOException e) {
    String message = e.getMessage();
    String said = message == null || message.isBlank() ? e.getClass().getSimpleName() : message;
    return sentence(
        said.contains("Too many open files")
            ? said + "; allow more with 'ulimit -n', or ask less at once"
            : said);
  }

  private static String words(Duration time) {
    return time.toMillis() % 1000 == 0 ? time.toSeconds() + " s" : time.toMillis() + " ms";
  }

  /** One line, of a length that a report can show. */
  private static String sentence(String text) {
    StringBuilder line = new StringBuilder();
    text.codePoints()
        .limit(SENTENCE_CHARS_MAX)
        .forEach(point -> line.appendCodePoint(Character.isISOControl(point) ? ' ' : point));
    return line.toString();
  }
}
