package dev.flotilla.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.sun.management.ThreadMXBean;
import dev.flotilla.engine.schedule.ScheduleLimits;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class EngineTest {
  private static final int CONTEXT = 400;
  private static final int BLOCKS = 64;
  private static final ScheduleLimits LIMITS = new ScheduleLimits(64, 8, 16);

  private final TinyRunner model = new TinyRunner(50, CONTEXT, BLOCKS);
  private final Engine engine = new Engine(model, LIMITS, CONTEXT, System::nanoTime);
  private final Wakeup wakeup = new Wakeup();

  @AfterEach
  void everyBlockIsFreeAtTheEnd() {
    engine.close();
    engine.checkInvariants();
    assertThat(engine.counts().blocksFree()).isEqualTo(BLOCKS);
  }

  @Test
  void anAnswerIsTheModelsOwnWhateverElseIsUnderWay() {
    List<Generation> answers = new ArrayList<>();
    Random random = new Random(1);
    for (int i = 0; i < 20; i++) {
      int[] prompt = random.ints(1 + random.nextInt(150), 0, 50).toArray();
      answers.add(ask(Ask.after(prompt).atMost(1 + random.nextInt(40))));
    }
    finish();
    for (Generation answer : answers) {
      assertThat(answer.ending()).isEqualTo(Ending.LENGTH);
      assertThat(text(answer))
          .isEqualTo(model.answer(answer.request().prompt(), answer.request().maxTokens()));
    }
    assertThat(engine.counts().ended(Ending.LENGTH)).isEqualTo(20);
  }

  @Test
  void aPromptThatWasAskedBeforeComesFromTheCache() {
    int[] prompt = IntStream.range(0, 100).map(i -> i % 50).toArray();
    Generation first = ask(Ask.after(prompt));
    finish();
    Generation second = ask(Ask.after(prompt));
    finish();
    assertThat(first.cached()).isZero();
    assertThat(second.cached()).as("six blocks of sixteen").isEqualTo(96);
    assertThat(text(second)).isEqualTo(text(first));
  }

  @Test
  void theSameSeedGivesTheSameAnswerInAnyBatch() {
    int[] prompt = {3, 1, 4, 1, 5};
    Generation alone = ask(Ask.after(prompt).sampled(1.5, 42).atMost(30));
    finish();
    Generation other = ask(Ask.after(prompt).sampled(1.5, 43).atMost(30));
    Generation among = ask(Ask.after(prompt).sampled(1.5, 42).atMost(30));
    ask(Ask.after(9, 9, 9).atMost(20));
    finish();
    assertThat(text(among)).isEqualTo(text(alone)).isNotEqualTo(text(other));
    assertThat(text(alone)).isNotEqualTo(model.answer(prompt, 30));
  }

  @Test
  void severalAnswersToOnePromptComputeItOnce() {
    int[] prompt = IntStream.range(0, 80).map(i -> i % 50).toArray();
    List<Generation> answers =
        engine.submit(Ask.after(prompt).sampled(2, 7).atMost(12).build(), 3, wakeup);
    finish();
    assertThat(answers.get(1).cached()).isEqualTo(64);
    assertThat(answers.get(2).cached()).isEqualTo(64);
    assertThat(text(answers.get(0))).isNotEqualTo(text(answers.get(1)));
    assertThat(text(answers.get(1))).isNotEqualTo(text(answers.get(2)));
  }

  @Test
  void anAnswerEndsWhereTheModelOrTheRequestSaysSo() {
    int[] prompt = {1, 2, 3};
    int[] answer = model.answer(prompt, 20);
    int end = answer[5];
    int place = IntStream.range(0, 20).filter(i -> answer[i] == end).findFirst().orElseThrow();
    Generation ended = ask(Ask.after(prompt).endingWith(end).atMost(20));
    Generation stopped = ask(Ask.after(prompt).stoppingAt(end).atMost(20));
    Generation late = ask(Ask.after(prompt).endingWith(end).atLeast(place + 3).atMost(20));
    Generation endless = ask(Ask.after(prompt).endingWith(end).endless().atMost(40));
    finish();
    assertThat(ended.ending()).isEqualTo(Ending.STOP);
    assertThat(ended.published()).isEqualTo(place + 1);
    assertThat(stopped.stopToken()).isEqualTo(end);
    assertThat(stopped.published()).isEqualTo(place + 1);
    assertThat(late.published()).isGreaterThanOrEqualTo(place + 3);
    assertThat(text(endless)).hasSize(40).doesNotContain(end);
  }

  @Test
  void aVectorIsTheSumOfItsOwnRowsWhateverElseIsUnderWay() {
    List<Generation> answers = new ArrayList<>();
    List<Generation> vectors = new ArrayList<>();
    Random random = new Random(2);
    for (int i = 0; i < 8; i++) {
      int[] text = random.ints(1 + random.nextInt(150), 0, 50).toArray();
      vectors.add(vector(text, Pooling.MEAN));
      answers.add(ask(Ask.after(text).atMost(20)));
      vectors.add(vector(text, Pooling.LAST));
    }
    finish();
    for (Generation vector : vectors) {
      assertThat(vector.ending()).isEqualTo(Ending.STOP);
      int[] text = vector.request().prompt();
      assertThat(vector.sum())
          .isEqualTo(model.sum(text, vector.request().pooling() == Pooling.MEAN));
    }
    for (Generation answer : answers) {
      assertThat(text(answer)).isEqualTo(model.answer(answer.request().prompt(), 20));
    }
  }

  /** Answers that grow beside it need the blocks of a text that comes in small chunks. */
  @Test
  void aVectorWhoseBlocksWereTakenIsComputedAnew() {
    try (Engine narrow =
        new Engine(model, new ScheduleLimits(8, 8, 16), CONTEXT, System::nanoTime)) {
      for (int i = 0; i < 6; i++) {
        narrow.submit(Ask.after(i).atMost(170).build(), 1, wakeup);
      }
      int[] text = IntStream.range(0, 340).map(k -> k % 50).toArray();
      Generation vector =
          narrow.submit(GenerationRequest.vector(text, Pooling.MEAN), 1, wakeup).getFirst();
      boolean works = true;
      while (works) {
        works = narrow.step();
        narrow.checkInvariants();
      }
      assertThat(vector.preemptions()).isPositive();
      assertThat(vector.sum()).isEqualTo(model.sum(text, true));
      assertThat(narrow.counts().blocksFree()).isEqualTo(BLOCKS);
    }
  }

  @Test
  void aTextThatWasSeenBeforeIsComputedWhereAllOfItIsWanted() {
    int[] text = IntStream.range(0, 100).map(i -> i % 50).toArray();
    ask(Ask.after(text));
    finish();
    Generation mean = vector(text, Pooling.MEAN);
    Generation last = vector(text, Pooling.LAST);
    finish();
    assertThat(mean.cached()).isZero();
    assertThat(last.cached()).as("six blocks of sixteen").isEqualTo(96);
    assertThat(mean.sum()).isEqualTo(model.sum(text, true));
    assertThat(last.sum()).isEqualTo(model.sum(text, false));
  }

  @Test
  void aTextMayFillTheContext() {
    int[] text = new int[CONTEXT];
    Generation vector = vector(text, Pooling.MEAN);
    finish();
    assertThat(vector.sum()).isEqualTo(model.sum(text, true));
    assertThatThrownBy(() -> vector(new int[CONTEXT + 1], Pooling.MEAN))
        .isInstanceOf(RequestRefused.class)
        .hasMessage("a text of the input has 401 tokens, and a text has 400 at most");
  }

  @Test
  void anAnswerEndsAtTheContext() {
    int[] prompt = new int[CONTEXT - 3];
    Generation answer = ask(Ask.after(prompt).atMost(100));
    finish();
    assertThat(answer.ending()).isEqualTo(Ending.LENGTH);
    assertThat(answer.published()).isEqualTo(3);
  }

  @Test
  void aPromptThatCanNeverFitIsRefusedWithBothNumbers() {
    assertThatThrownBy(() -> ask(Ask.after(new int[CONTEXT])))
        .isInstanceOf(RequestRefused.class)
        .hasMessage("the prompt has 400 tokens, and prompt and answer have 400 together at most");
    assertThatThrownBy(() -> ask(Ask.after(50)))
        .isInstanceOf(RequestRefused.class)
        .hasMessage("token 50 is not one of the model's 50");
  }

  @Test
  void moreThanMayBeOpenAreRefusedAndTheOthersAnswered() {
    List<Generation> answers = new ArrayList<>();
    for (int i = 0; i < LIMITS.openMax(); i++) {
      answers.add(ask(Ask.after(i)));
    }
    assertThatThrownBy(() -> ask(Ask.after(1)))
        .isInstanceOf(RequestRefused.class)
        .hasMessageContaining("24 answers are under way or wait, and 24 may");
    finish();
    assertThat(answers).allMatch(answer -> answer.ending() == Ending.LENGTH);
    assertThat(engine.counts().refused()).isEqualTo(1);
    ask(Ask.after(1));
    finish();
  }

  @Test
  void aClientThatLeavesFreesItsBlocksInTheMiddleOfThePrompt() {
    Generation leaving = ask(Ask.after(new int[300]));
    Generation staying = ask(Ask.after(1, 2, 3));
    engine.step();
    assertThat(leaving.computed()).isBetween(1, 299);
    engine.cancel(leaving);
    engine.step();
    assertThat(leaving.ending()).isEqualTo(Ending.CANCELLED);
    assertThat(leaving.table().size()).isZero();
    finish();
    assertThat(staying.ending()).isEqualTo(Ending.LENGTH);
  }

  @Test
  void aRequestOfSeveralAnswersCanBeGivenUpBeforeItBegan() {
    List<Generation> answers = engine.submit(Ask.after(1, 2, 3).sampled(1, 1).build(), 3, wakeup);
    engine.cancel(answers.get(2));
    engine.cancel(answers.get(0));
    engine.cancel(answers.get(1));
    finish();
    assertThat(answers).allMatch(answer -> answer.ending() == Ending.CANCELLED);
  }

  @Test
  void aStepThatFailsEndsItsOwnAnswersAndNobodyElses() {
    Generation unlucky = ask(Ask.after(1));
    model.inStep(() -> {
      throw new IllegalStateException("a broken step");
    });
    engine.step();
    model.inStep(() -> {});
    Generation lucky = ask(Ask.after(1));
    finish();
    assertThat(unlucky.ending()).isEqualTo(Ending.FAILED);
    assertThat(lucky.ending()).isEqualTo(Ending.LENGTH);
    assertThat(engine.failed()).isEmpty();
  }

  @Test
  void anEngineWhoseStepsKeepFailingSaysSoAndTakesNothingMore() throws InterruptedException {
    model.inStep(() -> {
      throw new IllegalStateException("a broken step");
    });
    engine.start();
    for (int i = 0; i < Engine.FAILED_STEPS_MAX; i++) {
      Generation answer = ask(Ask.after(1));
      while (answer.ending() == null) {
        wakeup.await(1_000_000_000);
      }
    }
    while (engine.failed().isEmpty()) {
      Thread.onSpinWait();
    }
    assertThat(engine.failed()).contains("3 steps failed in a row").contains("a broken step");
    engine.close();
    assertThatThrownBy(() -> ask(Ask.after(1))).hasMessageContaining("the engine has failed");
  }

  @Test
  void answersThatAreUnderWayEndWithTheEngine() throws InterruptedException {
    CountDownLatch under = new CountDownLatch(1);
    model.inStep(under::countDown);
    engine.start();
    Generation answer = ask(Ask.after(1).atMost(CONTEXT));
    under.await();
    engine.close();
    assertThat(answer.ending()).isIn(Ending.FAILED, Ending.LENGTH);
    assertThatThrownBy(() -> ask(Ask.after(1))).hasMessageContaining("the engine ends");
  }

  @Test
  void aReaderIsWokenForEveryAnswer() throws InterruptedException {
    engine.start();
    for (int i = 0; i < 50; i++) {
      Generation answer = ask(Ask.after(i, i, i).atMost(20));
      while (answer.ending() == null) {
        assertThat(wakeup.await(10_000_000_000L)).as("woken").isTrue();
      }
      assertThat(answer.published()).isEqualTo(20);
    }
  }

  @Test
  void logProbabilitiesAreThoseOfTheModel() {
    Generation answer = ask(Ask.after(1, 2).logprobs(5).atMost(4));
    finish();
    for (int i = 0; i < 4; i++) {
      assertThat(answer.alternative(i, 0)).isEqualTo(answer.token(i));
      assertThat(answer.alternativeLogprob(i, 0)).isEqualTo(answer.logprob(i));
      double sum = 0;
      for (int rank = 0; rank < 5; rank++) {
        sum += Math.exp(answer.alternativeLogprob(i, rank));
      }
      assertThat(sum).isBetween(0.1, 1.0);
      assertThat(answer.logprob(i)).isNegative().isCloseTo(-1f, within(1f));
    }
  }

  /** The whole step: schedule, run, sample with everything on, publish. */
  @Test
  void aStepAllocatesNothing() {
    for (int i = 0; i < 6; i++) {
      ask(Ask.after(i, 2, 3).sampled(1, i).endingWith(49).endless().atMost(CONTEXT));
    }
    for (int i = 0; i < 60; i++) {
      engine.step();
    }
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long self = Thread.currentThread().threadId();
    long least = Long.MAX_VALUE;
    for (int round = 0; round < 5; round++) {
      long before = threads.getThreadAllocatedBytes(self);
      long asking = threads.getThreadAllocatedBytes(self) - before;
      before = threads.getThreadAllocatedBytes(self);
      for (int i = 0; i < 12; i++) {
        engine.step();
      }
      least = Math.min(least, threads.getThreadAllocatedBytes(self) - before - asking);
    }
    assertThat(least).as("bytes that twelve steps allocated, in the best of five rounds").isZero();
  }

  private Generation ask(Ask ask) {
    return engine.submit(ask.build(), 1, wakeup).getFirst();
  }

  private Generation vector(int[] text, Pooling pooling) {
    return engine.submit(GenerationRequest.vector(text, pooling), 1, wakeup).getFirst();
  }

  private void finish() {
    boolean works = true;
    while (works) {
      works = engine.step();
      engine.checkInvariants();
    }
  }

  private static int[] text(Generation answer) {
    int[] text = new int[answer.published()];
    for (int i = 0; i < text.length; i++) {
      text[i] = answer.token(i);
    }
    return text;
  }
}
