package dev.flotilla.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.cli.TestShell;
import dev.flotilla.testkit.scripted.Script;
import dev.flotilla.testkit.scripted.ScriptedEngine;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** {@code flotilla chat}, and what it counts. */
final class ChatTest {
  private final TestShell shell = TestShell.piped();
  private final ScriptedEngine engine = ScriptedEngine.start().model("talk");

  @AfterEach
  void stop() {
    engine.close();
  }

  @Test
  void theAnswerGoesOutAndItsCountsBesideIt() {
    engine.whenChat(Script.answer("One ", "two ", "three ", "four").gap(Duration.ofMillis(30)));

    assertThat(shell.run("chat", "--url", engine.url() + "/v1", "Count")).as(shell.err()).isZero();

    assertThat(shell.out()).isEqualTo("One two three four\n");
    assertThat(shell.err())
        .matches(
            "\\[talk: \\d+ prompt \\+ \\d+ answer tokens, first after \\d+\\.\\d\\d s,"
                + " \\d+\\.\\d tok/s]\n");
  }

  @Test
  void aReplyThatCameAtOnceSaysNothingOfSpeed() {
    engine.whenChat(Script.answer("All of it at once, however many tokens that are"));

    assertThat(shell.run("chat", "--url", engine.url(), "Count")).as(shell.err()).isZero();

    assertThat(shell.err()).contains("first after").doesNotContain("tok/s");
  }

  @Test
  void aReplyThatCameAllAtOnceAfterAWaitHadItsFirstTextAfterThatWait() {
    Duration wait = Duration.ofMillis(300);
    engine.alwaysChat(exchange -> {
      LockSupport.parkNanos(wait.toNanos());
      Script.answer("Four").play(exchange);
    });

    for (int again = 0; again < 3; again++) {
      assertThat(shell.run("chat", "--url", engine.url(), "Count")).as(shell.err()).isZero();
    }

    Matcher told = Pattern.compile("first after (\\d+\\.\\d\\d) s").matcher(shell.err());
    while (told.find()) {
      assertThat(Double.parseDouble(told.group(1))).isGreaterThanOrEqualTo(0.3);
    }
  }

  @Test
  void anAnswerThatIsCutIsNoAnswer() {
    engine.whenChat(Script.answer("One ", "two").errorAfter(1));

    assertThat(shell.run("chat", "--url", engine.url(), "Count")).isEqualTo(1);

    assertThat(shell.out()).startsWith("One ");
    assertThat(shell.err()).isEqualTo("flotilla: the answer was cut: context shift failed\n");
  }

  @Test
  void anAnswerWhoseEndIsMissingMayBeCut() {
    engine.whenChat(Script.answer("One ", "two").withoutDone());

    assertThat(shell.run("chat", "--url", engine.url(), "Count")).isEqualTo(1);

    assertThat(shell.err())
        .isEqualTo("flotilla: the answer ended before its end was said: it may be cut\n");
  }
}
