package dev.flotilla.engine.serve;

import dev.flotilla.engine.Ending;
import dev.flotilla.engine.Engine;
import dev.flotilla.engine.Wakeup;
import dev.flotilla.engine.serve.AnswerReader.Said;
import dev.flotilla.server.http.ClientConnection;
import dev.flotilla.wire.openai.ApiError;
import io.helidon.webserver.CloseConnectionException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;

/**
 * Passes the answers of one request on as they come, until all have ended, the client is gone or
 * the server stops, which the client is told; whatever happens, the engine works on none of them
 * afterwards.
 */
final class Answering {
  private static final Logger log = System.getLogger(Answering.class.getName());

  private final Engine engine;
  private final Duration keepAlive;

  Answering(Engine engine, Duration keepAlive) {
    this.engine = engine;
    this.keepAlive = keepAlive;
  }

  void pass(List<AnswerReader> answers, ReplySink to, Wakeup wakeup) {
    ClientConnection client = ClientConnection.current();
    client.onCut(() -> {
      cancel(answers);
      wakeup.signal();
    });
    try {
      relay(answers, to, wakeup, client);
    } catch (IOException | UncheckedIOException gone) {
      log.log(Level.DEBUG, "a client went away in the middle of its answer", gone);
      throw new CloseConnectionException("the client is gone", gone);
    } catch (InterruptedException stopping) {
      Thread.currentThread().interrupt();
      throw new CloseConnectionException("the server stops", stopping);
    } finally {
      cancel(answers);
    }
  }

  private void relay(
      List<AnswerReader> answers, ReplySink to, Wakeup wakeup, ClientConnection client)
      throws IOException, InterruptedException {
    int open = answers.size();
    while (open > 0 && !client.timeIsOver()) {
      for (AnswerReader answer : answers) {
        if (answer.finish() != null) {
          continue;
        }
        Said said = answer.read();
        if (answer.finish() != null) {
          open--;
        }
        Ending ending = answer.generation().ending();
        if (ending == Ending.FAILED) {
          to.failed(failed(answer.generation().failure()));
          return;
        }
        if (ending == Ending.CANCELLED && client.timeIsOver()) {
          to.failed(EngineServer.STOPPING);
          return;
        }
        if (ending == Ending.CANCELLED) {
          throw new CloseConnectionException("the client is gone");
        }
        if (!said.parts().isEmpty() || answer.finish() != null) {
          to.said(answer, said, answers);
        }
      }
      if (open > 0 && !wakeup.await(keepAlive.toNanos())) {
        to.quiet();
      }
    }
    if (open > 0) {
      to.failed(EngineServer.STOPPING);
    } else {
      to.done(answers);
    }
  }

  /** What a client is told whose answer failed in the engine. */
  static ApiError failed(String why) {
    return new ApiError(
        500, "server_error", "engine_failed", "the answer failed: " + why, null, null);
  }

  private void cancel(List<AnswerReader> answers) {
    answers.forEach(each -> engine.cancel(each.generation()));
  }
}
