package dev.flotilla.agent.lanes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.agent.lanes.Enrolment.Result;
import org.junit.jupiter.api.Test;

/** What a person reads when an enrolment is refused: what the hub says, once. */
class EnrolmentTest {

  @Test
  void aHubThatSaysWhatToDoIsPassedOnAsItIs() {
    String token =
        "This hub has no such enrolment token. Make a new one on the hub's machine with 'flotilla tokens create' and pass it with --token.";
    assertThat(reason(401, token)).isEqualTo(token);
    String taken = "Another agent is enrolled as node box. Give this one another name.";
    assertThat(reason(409, taken)).isEqualTo(taken);
    String bad = "The body is not JSON.";
    assertThat(reason(400, bad)).isEqualTo(bad);
    String store = "the nodes can't be written: the disk is full";
    assertThat(Enrolment.read(503, error(store), "box")).isEqualTo(new Result.Later(store));
  }

  @Test
  void aHubThatSaysNothingOfWhatToDoGetsOneRemedy() {
    assertThat(reason(401, "The enrolment token's time is over."))
        .isEqualTo(
            "The enrolment token's time is over. Make a token on the hub's machine with 'flotilla tokens create' and start the agent with --token.");
  }

  @Test
  void whatIsNoHubIsCalledThat() {
    assertThat(((Result.Over) Enrolment.read(404, "<html>".getBytes(UTF_8), "box")).end().reason())
        .isEqualTo(
            "What answers the enrolment with HTTP 404 is no Flotilla hub: check the address that --hub names.");
  }

  private static String reason(int status, String said) {
    return ((Result.Over) Enrolment.read(status, error(said), "box")).end().reason();
  }

  private static byte[] error(String said) {
    return ("{\"error\":{\"message\":\"" + said + "\"}}").getBytes(UTF_8);
  }
}
