package dev.flotilla.agent.lanes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.agent.lanes.Enrolment.Result;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a person reads when an enrolment is refused: what the hub says, once. */
class EnrolmentTest {
  private static final HubAddress ADDRESS = new HubAddress("box.lan", 8485, false);

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
    assertThat(Enrolment.read(503, error(store), "box", ADDRESS))
        .isEqualTo(new Result.Later(store));
  }

  @Test
  void aHubThatSaysNothingOfWhatToDoGetsOneRemedy() {
    assertThat(reason(401, "The enrolment token's time is over."))
        .isEqualTo(
            "The enrolment token's time is over. Make a token on the hub's machine with 'flotilla tokens create' and start the agent with --token.");
  }

  @Test
  void whatIsNoHubIsCalledThat() {
    String serve = "{\"error\":{\"code\":\"not_found\",\"message\":\"is not served here\"}}";
    String keyed = "{\"error\":{\"code\":\"invalid_api_key\",\"message\":\"wants its key\"}}";
    for (String answer : List.of("404 " + serve, "401 " + keyed, "404 <html>", "400 <html>")) {
      int status = Integer.parseInt(answer.substring(0, 3));
      Result result = Enrolment.read(status, answer.substring(4).getBytes(UTF_8), "box", ADDRESS);
      assertThat(((Result.Over) result).end().reason())
          .startsWith("http://box.lan:8485 answers (HTTP " + status + ") but is no Flotilla hub: ")
          .contains("--hub");
    }
  }

  private static String reason(int status, String said) {
    return ((Result.Over) Enrolment.read(status, error(said), "box", ADDRESS)).end().reason();
  }

  private static byte[] error(String said) {
    return ("{\"error\":{\"message\":\"" + said + "\"}}").getBytes(UTF_8);
  }
}
