package dev.flotilla.wire.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Exchanges in time that the test makes. */
class DeadlinesTest {
  private static final DeadlineLimits LIMITS =
      new DeadlineLimits(Duration.ofSeconds(10), Duration.ofSeconds(2), Duration.ofSeconds(60));

  private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5);
  private final Deadlines deadlines = new Deadlines(now::get);
  private final Closable connection = new Closable();

  @Test
  void anEngineThatNeverAnswersIsCutOff() throws Exception {
    try (Deadline deadline = deadlines.watch(connection, LIMITS)) {
      deadline.awaitFirstByte();
      pass(9_999);
      assertThat(deadlines.sweep()).isZero();
      pass(1);
      assertThat(deadlines.sweep()).isEqualTo(1);
      assertThat(connection.closed.await(10, TimeUnit.SECONDS)).isTrue();
      assertThat(deadline.exceeded()).contains(DeadlineExceeded.Limit.FIRST_BYTE);
      IOException seen = new IOException("Socket closed");
      assertThat(deadline.explain(seen))
          .isInstanceOf(DeadlineExceeded.class)
          .hasMessage("no byte of a reply came within 10 s")
          .hasCause(seen);
      assertThat(deadlines.watched()).isZero();
      assertThat(deadlines.sweep()).isZero();
    }
  }

  @Test
  void eachChunkStartsTheGapAnew() {
    try (Deadline deadline = deadlines.watch(connection, LIMITS)) {
      deadline.awaitFirstByte();
      for (int i = 0; i < 20; i++) {
        deadline.awaitChunk();
        pass(1_900);
        assertThat(deadlines.sweep()).isZero();
        deadline.pause();
      }
      deadline.awaitChunk();
      pass(2_000);
      assertThat(deadlines.sweep()).isEqualTo(1);
      assertThat(deadline.explain(new IOException()))
          .hasMessage("no further chunk of the reply came within 2 s");
    }
  }

  @Test
  void aSlowClientIsNotTheEnginesFault() {
    try (Deadline deadline = deadlines.watch(connection, LIMITS)) {
      deadline.awaitChunk();
      deadline.pause();
      pass(50_000);
      assertThat(deadlines.sweep()).isZero();
      assertThat(deadline.exceeded()).isEmpty();
    }
  }

  @Test
  void theWholeHasItsLimitWhateverIsAwaited() {
    try (Deadline deadline = deadlines.watch(connection, LIMITS)) {
      deadline.pause();
      pass(60_000);
      assertThat(deadlines.sweep()).isEqualTo(1);
      assertThat(deadline.explain(new IOException()))
          .hasMessage("the reply was not whole within 60 s");
    }
  }

  @Test
  void aConnectionThatWentBackIsNeverClosed() {
    Deadline deadline = deadlines.watch(connection, LIMITS);
    deadline.awaitFirstByte();
    deadline.close();
    pass(1_000_000);
    assertThat(deadlines.sweep()).isZero();
    assertThat(deadline.exceeded()).isEmpty();
    IOException seen = new IOException("reset");
    assertThat(deadline.explain(seen)).isSameAs(seen);
    assertThat(connection.closed.getCount()).isEqualTo(1);
  }

  @Test
  void theSweepingThreadClosesWhatIsOverdue() throws Exception {
    try (Deadlines sweeping = new Deadlines(now::get).start();
        Deadline deadline = sweeping.watch(connection, LIMITS)) {
      deadline.awaitFirstByte();
      pass(10_000);
      assertThat(connection.closed.await(10, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void endlessTimeIsAllowedAndNoneIsNot() {
    Duration endless = Duration.ofSeconds(Long.MAX_VALUE);
    try (Deadline deadline =
        deadlines.watch(connection, new DeadlineLimits(endless, endless, endless))) {
      deadline.awaitFirstByte();
      pass(1_000_000_000);
      assertThat(deadlines.sweep()).isZero();
    }
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new DeadlineLimits(Duration.ZERO, endless, endless));
  }

  private void pass(long millis) {
    now.addAndGet(millis * 1_000_000);
  }

  private static final class Closable implements Connection {
    final CountDownLatch closed = new CountDownLatch(1);

    @Override
    public InputStream input() {
      return InputStream.nullInputStream();
    }

    @Override
    public OutputStream output() {
      return OutputStream.nullOutputStream();
    }

    @Override
    public void close() {
      closed.countDown();
    }
  }
}
