package dev.flotilla.bench.dataset;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Many questions to a tokenizer, a few at once. */
final class Counting {
  /** A server answers such questions on a few threads; more at once would only wait there. */
  private static final int AT_ONCE = 8;

  private Counting() {}

  /** Something that asks a tokenizer. */
  @FunctionalInterface
  interface Question<A, T> {
    T ask(A about) throws IOException;
  }

  /**
   * The answers, in the order of the questions.
   *
   * @throws IOException the first failure; the questions after it are not asked
   */
  static <A, T> List<T> each(List<A> abouts, Question<A, T> question) throws IOException {
    List<T> answers = new ArrayList<>(abouts.size());
    try (ExecutorService threads =
        Executors.newFixedThreadPool(AT_ONCE, Thread.ofVirtual().name("count-", 0).factory())) {
      List<Future<T>> open = new ArrayList<>(abouts.size());
      for (A about : abouts) {
        open.add(threads.submit(() -> question.ask(about)));
      }
      try {
        for (Future<T> answer : open) {
          answers.add(answer.get());
        }
      } catch (ExecutionException e) {
        threads.shutdownNow();
        if (e.getCause() instanceof IOException failed) {
          throw failed;
        }
        throw new IllegalStateException(e.getCause());
      } catch (InterruptedException e) {
        threads.shutdownNow();
        Thread.currentThread().interrupt();
        throw new IOException("interrupted while tokens were counted", e);
      }
    }
    return answers;
  }
}
