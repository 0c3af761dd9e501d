package dev.flotilla.cli.compare;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.cli.TestShell;
import dev.flotilla.testkit.scripted.EmbeddingLie;
import dev.flotilla.testkit.scripted.Lie;
import dev.flotilla.testkit.scripted.LyingEngine;
import dev.flotilla.testkit.scripted.Script;
import dev.flotilla.testkit.scripted.ScriptedEngine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code flotilla compare}, as its user sees it. */
final class CompareCommandTest {
  private final ScriptedEngine a = LyingEngine.honest(512);
  private final ScriptedEngine b = LyingEngine.honest(512);
  private final TestShell shell = TestShell.piped();

  @TempDir private Path folder;

  @AfterEach
  void stop() {
    a.close();
    b.close();
  }

  @Test
  void twoServersOfOneShapeAreTheSameInEveryProbe() {
    assertThat(shell.run("compare", a.url(), b.url() + "/v1")).as(shell.err()).isZero();

    assertThat(shell.out())
        .contains("A  " + a.url() + ", model honest", "B  " + b.url() + "/v1, model honest")
        .contains("PROBE ", "plain ", "tools-streamed ", "too-long ")
        .doesNotContain("different in", "not compared:")
        .contains(" same, 0 different\n");
    assertThat(shell.err()).isEmpty();
  }

  @Test
  void theFirstDifferenceOfAProbeIsShownAsADiff() {
    try (ScriptedEngine liar = LyingEngine.telling(Lie.FINISH_FOREIGN, 512)) {
      assertThat(shell.run("compare", a.url(), liar.url(), "--probe", "plain")).isEqualTo(1);
    }

    assertThat(shell.out())
        .containsPattern("plain +200 text +200 text +different\n")
        .contains(
            """
            plain: an answer in one piece
              @@ choices[].finish_reason
              - "length"
              + "eos_token"

            0 same, 1 different; -o wide shows every difference
            """);
  }

  @Test
  void serversOfEmbeddingsHaveProbesOfTheirOwn() {
    try (ScriptedEngine one = LyingEngine.embedding(512);
        ScriptedEngine same = LyingEngine.embedding(512);
        ScriptedEngine liar = LyingEngine.embedding(EmbeddingLie.HALF_AS_LONG, 512)) {
      assertThat(shell.run("compare", one.url(), same.url(), "--embeddings")).isZero();
      assertThat(shell.out())
          .contains("embedding-base64 ", "embedding-dimensions ")
          .doesNotContain("plain ")
          .contains(" same, 0 different\n");

      assertThat(shell.run("compare", one.url(), liar.url(), "--embeddings")).isEqualTo(1);
      assertThat(shell.out())
          .contains(
              """
              embedding: the vector of one text
                @@ vectors
                - 48 numbers each
                + 24 numbers each
              """);
    }
  }

  @Test
  void programsGetBothShapesAndEveryDifference() {
    try (ScriptedEngine liar = LyingEngine.telling(Lie.EXTRA_FIELDS, 512)) {
      assertThat(shell.run("compare", a.url(), liar.url(), "--probe", "plain", "-o", "json"))
          .isEqualTo(1);
    }

    JsonNode report = JsonMapper.shared().readTree(shell.out());
    assertThat(report.path("different").asInt()).isEqualTo(1);
    JsonNode probe = report.path("probes").path(0);
    assertThat(probe.path("result").asString()).isEqualTo("different");
    assertThat(probe.path("differences").path(0).toString())
        .isEqualTo("{\"place\":\"timings\",\"first\":\"absent\",\"second\":\"object\"}");
    assertThat(probe.path("first").path("shape").path("model").asString()).isEqualTo("as asked");
  }

  @Test
  void buildServersGetATestForEachProbe() throws IOException {
    Path file = folder.resolve("shapes.xml");
    try (ScriptedEngine liar = LyingEngine.telling(Lie.DONE_MISSING, 512)) {
      shell.run(
          "compare",
          a.url(),
          liar.url(),
          "--probe",
          "plain",
          "--probe",
          "streamed",
          "--junit",
          file.toString());
    }

    assertThat(Files.readString(file))
        .contains("<testsuite name=\"flotilla compare\" tests=\"2\" failures=\"1\" skipped=\"0\"")
        .contains("<testcase classname=\"shape.chat\" name=\"plain\"")
        .contains("message=\"order: role content… finish [DONE] at A, role content… finish at B\"");
  }

  @Test
  void keysComeFromTheEnvironmentOrAFileAndAreNeverShown() throws IOException {
    a.apiKey("fl-secret-a");
    b.apiKey("fl-secret-b");
    Path file = Files.writeString(folder.resolve("key"), "fl-secret-b\n");
    TestShell keyed = TestShell.piped().with("A_KEY", "fl-secret-a");

    int code =
        keyed.run(
            "compare",
            a.url(),
            b.url(),
            "--key-a",
            "env:A_KEY",
            "--key-b",
            "file:" + file,
            "--probe",
            "plain");

    assertThat(code).as(keyed.err()).isZero();
    assertThat(keyed.out() + keyed.err()).doesNotContain("secret");
  }

  @Test
  void aKeyAmongTheArgumentsIsRefusedAndNotRepeated() {
    assertThat(shell.run("compare", a.url(), b.url(), "--key-b", "fl-secret")).isEqualTo(2);

    assertThat(shell.err())
        .startsWith(
            "flotilla: --key-b says where the key is: env:VARIABLE or file:PATH, never the key"
                + " itself\n")
        .doesNotContain("secret");
  }

  @Test
  void aServerThatWantsAKeySaysWhichOptionGivesIt() {
    b.apiKey("fl-secret-b");

    assertThat(shell.run("compare", a.url(), b.url())).isEqualTo(1);

    assertThat(shell.err())
        .isEqualTo(
            "flotilla: B, %s, refuses to answer (401): it wants a key, --key-b env:VARIABLE\n"
                .formatted(b.url()));
  }

  @Test
  void aServerThatIsNotThereIsSaid() {
    String address = b.url();
    b.close();

    assertThat(shell.run("compare", a.url(), address)).isEqualTo(1);

    assertThat(shell.err())
        .startsWith("flotilla: B, " + address + ", does not answer: ")
        .endsWith("; is it running?\n");
  }

  @Test
  void amongSeveralModelsOneIsChosenByName() {
    b.always(
        "/v1/models",
        Script.json(200, "{\"data\":[{\"id\":\"honest\"},{\"id\":\"other\\u001b[2J\"}]}"));

    assertThat(shell.run("compare", a.url(), b.url())).isEqualTo(1);
    assertThat(shell.err())
        .contains("lists 2 models; choose with --model-b NAME: honest, other")
        .doesNotContain("\u001b");

    TestShell named = TestShell.piped();
    assertThat(named.run("compare", a.url(), b.url(), "--model-b", "honest", "--probe", "plain"))
        .as(named.err())
        .isZero();
  }

  @Test
  void aServerThatDiesIsDifferentAndIsNotAskedOn() {
    b.alwaysChat(Script.dropBeforeFirstByte());

    assertThat(shell.run("compare", a.url(), b.url())).isEqualTo(1);

    assertThat(shell.out())
        .containsPattern("plain +200 text +no reply +different\n")
        .containsPattern("unicode +200 text +- +not compared: the server gave no reply 3 times");
  }

  @Test
  void atATerminalTheProgressIsShownAndErased() {
    TestShell terminal = TestShell.terminal(100);

    terminal.run("compare", a.url(), b.url(), "--probe", "plain");

    assertThat(terminal.err()).contains("of 1 probes, A: plain").endsWith("\r\u001b[K");
  }

  @Test
  void whatIsNoAddressOrNoProbeIsWrongUsage() {
    assertThat(shell.run("compare", "http://", b.url())).isEqualTo(2);
    assertThat(shell.run("compare", a.url())).isEqualTo(2);
    assertThat(shell.run("compare", a.url(), b.url(), "--probe", "nothing")).isEqualTo(2);
    assertThat(shell.err()).contains("--probe: there is no probe 'nothing'; there are plain, ");
    assertThat(shell.run("compare", a.url(), b.url(), "--timeout", "0")).isEqualTo(2);
  }
}
