package dev.flotilla.bench.load;

import dev.flotilla.bench.dataset.Tokenizer;
import dev.flotilla.bench.measure.RequestRecord;
import dev.flotilla.bench.measure.RequestRecord.CountedBy;
import dev.flotilla.bench.measure.Run;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Counts the tokens of answers for which the server gave no usage, after the run: a chunk may hold
 * any number of tokens, and a count by chunks would be taken for one by tokens.
 */
public final class TokenRecount {
  private final Run run;

  public TokenRecount(Run run) {
    this.run = run;
  }

  /** The run with its answers counted; those stay as they are that can't be counted. */
  public Run by(Tokenizer tokenizer) {
    List<RequestRecord> requests = new ArrayList<>(run.requests().size());
    boolean counting = true;
    for (RequestRecord request : run.requests()) {
      int tokens = -1;
      if (counting && request.succeeded() && request.countedBy() == CountedBy.CHUNKS) {
        try {
          tokens = tokenizer.count(request.output());
        } catch (IOException _) {
          // It has gone, or refuses: it would do so for each of the others, each after its wait.
          counting = false;
        }
      }
      requests.add(tokens > 0 ? counted(request, tokens) : request);
    }
    return new Run(
        run.load(), run.startedAt(), run.durationNanos(), requests, run.partial(), run.generator());
  }

  private static RequestRecord counted(RequestRecord request, int tokens) {
    return new RequestRecord(
        request.index(),
        request.prompt(),
        request.scheduledNanos(),
        request.sentNanos(),
        request.chunks(),
        request.endNanos(),
        request.inputTokens(),
        tokens,
        request.maxTokens(),
        CountedBy.TOKENIZER,
        request.finishReason(),
        request.output(),
        request.worker(),
        request.outcome());
  }
}
