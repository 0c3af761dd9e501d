package dev.flotilla.hub.keys;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.hub.lanes.NodeCredentials.Enrolment;
import dev.flotilla.hub.store.Store;
import dev.flotilla.hub.store.StoreLimits;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EnrolmentTest {

  @TempDir Path home;
  private Instant now = Instant.parse("2026-11-29T12:00:00Z");
  private final InstantSource clock = () -> now;
  private Store store;
  private EnrolmentTokens tokens;
  private EnrolledNodes nodes;

  @BeforeEach
  void open() throws Exception {
    store = Store.open(home, StoreLimits.DEFAULT, clock);
    tokens = new EnrolmentTokens(store, clock, new SecureRandom());
    nodes = new EnrolledNodes(store, tokens, new SecureRandom());
  }

  @AfterEach
  void close() {
    store.close();
  }

  private String token(Optional<Duration> life, Optional<Integer> uses) throws Exception {
    return ((EnrolmentTokens.Creation.Created) tokens.create("for the lab", life, uses)).secret();
  }

  private static String credential(Enrolment enrolment) {
    return ((Enrolment.Enrolled) enrolment).credential();
  }

  private static String why(Enrolment enrolment) {
    return ((Enrolment.BadToken) enrolment).why();
  }

  @Test
  void anAgentEnrolsAndIsKnownAfterARestart() throws Exception {
    String credential =
        credential(nodes.enrol(token(Optional.empty(), Optional.empty()), "mac", "agent-1"));
    assertThat(credential).matches("fn-[0-9A-Za-z]{32}");
    close();
    open();
    assertThat(nodes.verify("mac", credential)).contains("agent-1");
    assertThat(nodes.verify("pc", credential)).isEmpty();
    assertThat(nodes.verify("mac", credential.replace("fn-", "ft-"))).isEmpty();
    assertThat(nodes.verify("mac", "")).isEmpty();
  }

  @Test
  void twoAgentsCantHaveOneNameButOneAgentMayComeAgain() throws Exception {
    String token = token(Optional.empty(), Optional.of(3));
    String first = credential(nodes.enrol(token, "mac", "agent-1"));
    assertThat(nodes.enrol(token, "mac", "agent-2")).isInstanceOf(Enrolment.NameTaken.class);
    String second = credential(nodes.enrol(token, "mac", "agent-1"));
    assertThat(nodes.verify("mac", first)).isEmpty();
    assertThat(nodes.verify("mac", second)).contains("agent-1");
    // The attempt on the taken name used nothing up.
    assertThat(tokens.list().getFirst().usesLeft()).contains(1);

    assertThat(nodes.forget("mac")).isTrue();
    assertThat(nodes.verify("mac", second)).isEmpty();
    assertThat(nodes.enrol(token, "mac", "agent-2")).isInstanceOf(Enrolment.Enrolled.class);
  }

  @Test
  void whoHasNoGoodTokenDoesNotLearnWhichNamesAreTaken() throws Exception {
    credential(nodes.enrol(token(Optional.empty(), Optional.empty()), "mac", "agent-1"));
    String unknown = "ft-" + "x".repeat(32);
    String revoked = token(Optional.empty(), Optional.empty());
    tokens.revoke(tokens.list().getLast().id());

    for (String token : List.of(unknown, revoked)) {
      assertThat(nodes.enrol(token, "mac", "agent-2"))
          .isEqualTo(nodes.enrol(token, "free", "agent-2"))
          .isInstanceOf(Enrolment.BadToken.class);
    }
  }

  @Test
  void aTokenEndsByTimeByUseAndByHand() throws Exception {
    String shortLived = token(Optional.of(Duration.ofMinutes(5)), Optional.empty());
    String once = token(Optional.empty(), Optional.of(1));
    String revoked = token(Optional.empty(), Optional.empty());
    now = now.plus(Duration.ofMinutes(5));
    assertThat(why(nodes.enrol(shortLived, "a", "agent-1")))
        .isEqualTo("The enrolment token's time is over.");
    credential(nodes.enrol(once, "a", "agent-1"));
    assertThat(why(nodes.enrol(once, "b", "agent-2")))
        .isEqualTo("The enrolment token was used as often as it may be.");
    assertThat(tokens.revoke(tokens.list().getLast().id())).isTrue();
    assertThat(why(nodes.enrol(revoked, "c", "agent-3")))
        .startsWith("This hub has no such enrolment token, or it was revoked");
    assertThat(tokens.revoke(99)).isFalse();
  }

  @Test
  void theTokenForTheAgentInsideIsForOneUseAndNeverStored() throws Exception {
    String token = tokens.oneShot();
    assertThat(tokens.list()).isEmpty();
    credential(nodes.enrol(token(Optional.empty(), Optional.empty()), "mac", "other"));
    assertThat(nodes.enrol(token, "mac", "agent-1")).isInstanceOf(Enrolment.NameTaken.class);
    credential(nodes.enrol(token, "inside", "agent-1"));
    assertThat(nodes.enrol(token, "again", "agent-2")).isInstanceOf(Enrolment.BadToken.class);
  }

  @Test
  void agentsThatEnrolAtOnceEachHaveATokenOfTheirOwn() throws Exception {
    String first = tokens.oneShot();
    String second = tokens.oneShot();

    credential(nodes.enrol(first, "mac", "agent-1"));
    credential(nodes.enrol(second, "pc", "agent-2"));

    assertThat(nodes.enrol(first, "more", "agent-3")).isInstanceOf(Enrolment.BadToken.class);
    assertThat(nodes.enrol(second, "more", "agent-3")).isInstanceOf(Enrolment.BadToken.class);
  }

  @Test
  void aTokenForAnAgentInsideEndsByItselfAndThereAreNotManyOfThem() {
    String early = tokens.oneShot();
    for (int more = 1; more < EnrolmentTokens.ONE_SHOTS_MAX; more++) {
      tokens.oneShot();
    }
    assertThatThrownBy(tokens::oneShot)
        .hasMessage("there are 64 open one-shot tokens already, which is the limit");

    now = now.plus(EnrolmentTokens.ONE_SHOT_LIFE);
    assertThat(nodes.enrol(early, "mac", "agent-1")).isInstanceOf(Enrolment.BadToken.class);
    credential(nodes.enrol(tokens.oneShot(), "mac", "agent-1"));
  }

  @Test
  void whatIsNoTokenIsRefusedWithoutBeingRepeated() {
    assertThat(why(nodes.enrol("secret-of-another-kind", "mac", "agent-1")))
        .isEqualTo("This is not an enrolment token.");
    assertThat(why(nodes.enrol("x", "../mac", "agent-1"))).startsWith("a node's name");
    assertThat(why(nodes.enrol("x", "mac", "a".repeat(1_000))))
        .isEqualTo("An agent's id has 1 to 128 characters, not 1000.");
  }

  @Test
  void aTokenThatCantBeMeantIsRefused() throws Exception {
    assertThat(tokens.create("", Optional.empty(), Optional.of(0)))
        .isEqualTo(new EnrolmentTokens.Creation.Refused("a token is for 1 to 10000 uses, not 0"));
    assertThat(tokens.create("", Optional.of(Duration.ofDays(1_000)), Optional.empty()))
        .isEqualTo(
            new EnrolmentTokens.Creation.Refused(
                "a token lives for 1 s to 366 days, not 86400000 s"));
    assertThat(tokens.create("two\nlines", Optional.empty(), Optional.empty()))
        .isInstanceOf(EnrolmentTokens.Creation.Refused.class);
  }
}
