package dev.flotilla.bench.measure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.bench.measure.RequestRecord.CountedBy;
import dev.flotilla.bench.measure.RequestRecord.Kind;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** Each trap in which a benchmark reports numbers as if nothing were amiss, and what we say. */
final class GuardsTest {

  @Test
  void aSoundRunHasNothingToSay() {
    assertThat(Runs.result(Runs.steady(4, 5, 50, 10)).findings()).isEmpty();
  }

  @Test
  void allFailedIsNoResult() {
    Result result =
        Runs.result(
            Runs.run(
                2,
                List.of(
                    Runs.failed(0, 0, Kind.CONNECT, "127.0.0.1:9: connection refused"),
                    Runs.failed(1, 0, Kind.CONNECT, "127.0.0.1:9: connection refused"))));

    assertThat(result.misleads()).isTrue();
    assertThat(words(result))
        .containsExactly(
            "None of 2 requests succeeded (2 not connected): there are no figures, only zeros. The"
                + " first: 127.0.0.1:9: connection refused");
  }

  @Test
  void noRequestAtAllIsNoResult() {
    assertThat(words(Runs.result(Runs.run(1, List.of()))))
        .containsExactly("No request was made: there are no figures, only zeros.");
  }

  @Test
  void someFailuresAreToldByKind() {
    Result result =
        Runs.result(
            with(
                Runs.steady(2, 10, 50, 10),
                Runs.failed(20, 5, Kind.REFUSED, "429: the queue is full"),
                Runs.failed(21, 6, Kind.TIMEOUT, "no byte in 60 s")));

    assertThat(result.misleads()).isTrue();
    assertThat(words(result))
        .containsExactly(
            "2 of 22 requests failed (1 refused for now, 1 out of time): latencies are those of the"
                + " others, and throughput leaves out the work that was for nothing. The first:"
                + " 429: the queue is full");
  }

  @Test
  void aFailureAmongHundredsIsToldButDoesNotMislead() {
    Result result =
        Runs.result(
            with(Runs.steady(10, 20, 50, 10), Runs.failed(200, 5, Kind.CUT, "cut after 7 chunks")));

    assertThat(result.findings()).hasSize(1);
    assertThat(result.misleads()).isFalse();
  }

  @Test
  void anErrorInsideAStreamIsNoSuccess() {
    Result result =
        Runs.result(
            with(Runs.steady(2, 3, 50, 10), Runs.failed(6, 5, Kind.IN_BAND, "out of memory")));

    assertThat(result.misleads()).isTrue();
    assertThat(words(result))
        .contains(
            "1 stream began with status 200 and then held an error: counted as failed. The first:"
                + " out of memory");
  }

  @Test
  void anEmptyReplyIsNoSuccess() {
    Result result =
        Runs.result(
            with(
                Runs.steady(2, 3, 50, 10), Runs.failed(6, 5, Kind.EMPTY, "no output in 2 chunks")));

    assertThat(result.misleads()).isTrue();
    assertThat(words(result))
        .contains("1 reply came whole, with status 200, and held no output: counted as failed.");
  }

  @Test
  void chunksThatStandForTokensMislead() {
    Result result =
        Runs.result(Runs.run(1, List.of(Runs.request(0, 0, 50, 10, 10, 10, CountedBy.CHUNKS))));

    assertThat(result.misleads()).isTrue();
    assertThat(words(result))
        .containsExactly(
            "The server did not say how many tokens 1 of 1 answers have, nor could its tokenizer be"
                + " asked: each chunk counts as one token, so token throughput and TPOT are"
                + " guesses.");
  }

  @Test
  void tokensThatTheTokenizerCountedAreOnlyMentioned() {
    Result result =
        Runs.result(Runs.run(1, List.of(Runs.request(0, 0, 50, 10, 10, 10, CountedBy.TOKENIZER))));

    assertThat(result.misleads()).isFalse();
    assertThat(words(result).getFirst()).contains("its tokenizer was asked for the text instead");
  }

  @Test
  void tokensThatComeInBundlesSpoilWhatCountsChunks() {
    Result result =
        Runs.result(Runs.run(1, List.of(Runs.request(0, 0, 50, 10, 10, 30, CountedBy.SERVER))));

    assertThat(result.misleads()).isTrue();
    assertThat(words(result))
        .containsExactly(
            "1 of 1 answers have more or fewer tokens than chunks, by over 5 % (3.00 tokens a chunk"
                + " in all): ITL and peak throughput are by chunks. The server does not say how"
                + " many tokens each chunk held; TPOT is by tokens.");
  }

  @Test
  void countsThatTheTimesContradictMislead() {
    Result result =
        Runs.result(Runs.run(1, List.of(Runs.request(0, 0, 50, 10, 10, 800, CountedBy.SERVER))));

    assertThat(result.misleads()).isTrue();
    assertThat(result.findings()).extracting(Finding::kind).contains(Finding.Kind.CONTRADICTION);
    assertThat(words(result).getFirst()).startsWith("Results contradict each other: 5707.1 tok/s");
  }

  @Test
  void answersThatBreakOffEarlyMislead() {
    Result result =
        Runs.result(Runs.run(1, List.of(shortAnswer(0, "length"), shortAnswer(1, "length"))));

    assertThat(result.misleads()).isTrue();
    assertThat(words(result))
        .containsExactly(
            "Answers have 10.0 tokens on average, under a tenth of the 512.0 that they could have;"
                + " 0 of 2 stopped by themselves.");
  }

  @Test
  void answersThatAreShortByThemselvesAreOnlyMentioned() {
    Result result =
        Runs.result(Runs.run(1, List.of(shortAnswer(0, "stop"), shortAnswer(1, "tool_calls"))));

    assertThat(result.findings()).hasSize(1);
    assertThat(result.misleads()).isFalse();
  }

  @Test
  void concurrencyBeyondTheServersSlotsIsSaid() {
    Run run = Runs.steady(8, 2, 50, 10);

    Result result =
        Result.of(
            run,
            Goals.NONE,
            Summary.PERCENTILES,
            new Conditions(OptionalInt.of(4), "llama-server's /props"),
            Map.of());

    assertThat(words(result))
        .containsExactly(
            "Concurrency 8 is more than the 4 that the server works on at once (llama-server's"
                + " /props): up to 4 requests wait, and TTFT holds their wait.");
  }

  @Test
  void aPlateauOfAServerThatSaysNothingIsSeen() {
    List<RequestRecord> requests = new ArrayList<>();
    for (int index = 0; index < 16; index++) {
      // Eight are sent at once; two are worked on at once, for 100 ms each.
      long began = index / 2 * 100L;
      long sent = Math.max(0, began - 300);
      requests.add(Runs.request(index, sent, began - sent + 10, 10));
    }

    Result result = Runs.result(Runs.run(8, requests));

    assertThat(words(result).getFirst())
        .startsWith(
            "Concurrency 8 seems more than the server works on at once: never more than 2 answers"
                + " were being generated, and just 2 for 90 % of the time.");
  }

  @Test
  void aClientThatIsBusyMeasuresItself() {
    Run run = Runs.steady(2, 3, 50, 10);

    Result busy = Runs.result(by(run, new Generator(run.durationNanos(), 1, 0, 0, 0, 0)));
    assertThat(busy.misleads()).isTrue();
    assertThat(words(busy).getFirst())
        .startsWith(
            "The client itself used 100 % of its 1 processors: the numbers may be its own. Send"
                + " less at once. To make the client quieter, leave it a processor: ");
    Result late = Runs.result(by(run, new Generator(0, 2, 0, 0, 35_000_000, 90_000_000)));
    assertThat(late.misleads()).isTrue();
    assertThat(words(late))
        .containsExactly(
            "The client was 35 ms late (p99) to send or to read, though nothing but this machine"
                + " held it back: of P99 TTFT, 50 ms, that much may be its own. Of P99 ITL, 10 ms, it"
                + " may be much. To make the client quieter, leave it a processor: end what else"
                + " runs here, give an engine on this machine fewer threads, or measure from another"
                + " machine with --url.");
  }

  @Test
  void aClientThatIsLateByLittleBesideWhatItMeasuresIsNoReasonToFail() {
    Run run = Runs.steady(2, 3, 600, 10);

    Result late = Runs.result(by(run, new Generator(0, 2, 0, 0, 35_000_000, 90_000_000)));

    assertThat(late.misleads()).isFalse();
    assertThat(words(late).getFirst())
        .contains("little beside P99 TTFT, 600 ms. Of P99 ITL, 10 ms, it may be much. To make ");
  }

  @Test
  void aRunThatWasEndedSaysHowFarItCame() {
    Run whole = Runs.steady(2, 3, 50, 10);
    List<RequestRecord> requests = new ArrayList<>(whole.requests());
    requests.add(Runs.failed(6, 100, Kind.CANCELLED, "the run was ended"));
    Run run = new Run(Runs.closed(2, 100), Instant.EPOCH, whole.durationNanos(), requests, true);

    Result result = Runs.result(run);

    assertThat(result.misleads()).isTrue();
    assertThat(words(result))
        .as("what was cancelled is no failure of the server")
        .containsExactly(
            "The run was ended after 6 of 100 requests: these are the results so far. 1 request under"
                + " way was cut by that, and left out.");
    assertThat(result.summary().failed()).isZero();
    assertThat(result.summary().own().silicon().failed()).isZero();
  }

  @Test
  void whatWasCutBeforeAnyEndIsNoFailureEither() {
    Run run =
        new Run(
            Runs.closed(2, 100),
            Instant.EPOCH,
            1,
            List.of(Runs.failed(0, 0, Kind.CANCELLED, "the run was ended")),
            true);

    Result result = Runs.result(run);

    assertThat(result.summary().failed()).isZero();
    assertThat(words(result))
        .containsExactly(
            "The run was ended after 0 of 100 requests: these are the results so far. 1 request under"
                + " way was cut by that, and left out.",
            "No request came to its end: there are no figures, only zeros.");
  }

  private static RequestRecord shortAnswer(int index, String finish) {
    RequestRecord r = Runs.request(index, index * 200L, 50, 10);
    return new RequestRecord(
        index,
        r.prompt(),
        r.scheduledNanos(),
        r.sentNanos(),
        r.chunks(),
        r.endNanos(),
        32,
        10,
        512,
        CountedBy.SERVER,
        Optional.of(finish),
        "",
        r.worker(),
        r.outcome());
  }

  private static Run with(Run run, RequestRecord... others) {
    List<RequestRecord> requests = new ArrayList<>(run.requests());
    Collections.addAll(requests, others);
    return new Run(run.load(), run.startedAt(), run.durationNanos(), requests, false);
  }

  private static Run by(Run run, Generator generator) {
    return new Run(
        run.load(), run.startedAt(), run.durationNanos(), run.requests(), false, generator);
  }

  private static List<String> words(Result result) {
    return result.findings().stream().map(Finding::words).map(String::strip).toList();
  }
}
