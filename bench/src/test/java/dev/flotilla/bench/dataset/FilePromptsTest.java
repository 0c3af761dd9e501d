package dev.flotilla.bench.dataset;

import static java.nio.charset.StandardCharsets.UTF_16;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.testkit.scripted.Script;
import dev.flotilla.testkit.scripted.ScriptedEngine;
import dev.flotilla.wire.http.HttpHeaders;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Datasets from files: the three schemas, and whatever a file may have wrong. */
final class FilePromptsTest {
  @TempDir private Path folder;
  private final ScriptedEngine engine = ScriptedEngine.start();
  private final Server server =
      new Server(URI.create(engine.url()), HttpHeaders.NONE, Optional.empty());
  private final Datasets datasets = new Datasets(server, "scripted", DatasetLimits.DEFAULTS);

  @AfterEach
  void end() {
    server.close();
    engine.close();
  }

  @Test
  void aFileOfSiliconBenchIsReadWithItsNamesAndLimits() throws Exception {
    Path file =
        file(
            "prompts.json",
            """
            [
              {"name": "a-1", "description": "first", "max_tokens": 256,
               "messages": [{"role": "user", "content": "Hi"},
                            {"role": "assistant", "content": null, "tool_calls": []}]},
              {"name": "a-2", "messages": [{"role": "user", "content": "Ho"}], "max_tokens": 64}
            ]
            """);

    Dataset made = datasets.make(unshuffled(file));

    assertThat(made.description()).isEqualTo("file prompts.json");
    assertThat(made.prompts()).extracting(Prompt::name).containsExactly("a-1", "a-2");
    assertThat(made.prompts()).extracting(Prompt::maxTokens).containsExactly(256, 64);
    assertThat(made.prompts().getFirst().input())
        .isEqualTo(
            new Prompt.Input.Messages(
                "[{\"role\":\"user\",\"content\":\"Hi\"},"
                    + "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[]}]",
                Optional.empty()));
    assertThat(engine.requests()).as("nothing has to be counted").isEmpty();
  }

  @Test
  void whatWeWriteInSiliconBenchsSchemaIsReadBack() throws Exception {
    Dataset agent = datasets.make(DatasetOptions.of("agent").withMaxContext(100_000).withCount(20));
    Path file = folder.resolve("agent.json");

    Files.writeString(file, SiliconBenchFile.of(agent));

    assertThat(datasets.make(unshuffled(file)).prompts()).isEqualTo(agent.prompts());
  }

  @Test
  void linesOfPromptsAreReadAsTheFieldsCustomDataset() throws Exception {
    Path file =
        file(
            "p.jsonl",
            "{\"prompt\": \"One\"}\n\n  {\"prompt\": \"Two\", \"output_tokens\": 17}\r\n");

    List<Prompt> prompts = datasets.make(unshuffled(file)).prompts();

    assertThat(prompts).extracting(Prompt::name).containsExactly("line-1", "line-3");
    assertThat(prompts).extracting(Prompt::maxTokens).containsExactly(256, 17);
    assertThat(datasets.make(unshuffled(file).withLengths(1024, 5, 0, 0)).prompts())
        .extracting(Prompt::maxTokens)
        .containsOnly(5);
  }

  @Test
  void conversationsOfShareGptAreChosenAsVllmDoes() throws Exception {
    String long1025 = "word ".repeat(1_025).strip();
    Path file =
        file(
            "share.json",
            "["
                + String.join(
                    ",\n",
                    share("one two three four", "five six seven eight nine"),
                    share("too short", "five six seven eight"),
                    share("one two three four", "too short"),
                    share(long1025, "five six seven eight"),
                    "{\"id\": \"x\", \"conversations\": [{\"from\": \"human\", \"value\": \"alone\"}]}",
                    share("word ".repeat(1_024).strip(), "word ".repeat(1_024).strip()))
                + "]");

    Dataset made = datasets.make(unshuffled(file));

    assertThat(made.prompts()).extracting(Prompt::inputTokens).containsExactly(4, 1_024);
    assertThat(made.prompts()).extracting(Prompt::maxTokens).containsExactly(5, 1_024);
    assertThat(made.notes())
        .containsExactly(
            "1 of 6 entries are left out: conversations of fewer than two turns.",
            "3 conversations are too short or too long, by vLLM's rule, and are left out.");
  }

  @Test
  void whereNobodyCountsLengthsAreEstimatedAndItIsSaid() throws Exception {
    engine.always("/tokenize", Script.notFound());
    Path file = file("s.jsonl", share("sixteen letters.", "twenty letters here."));

    Dataset made = datasets.make(unshuffled(file));

    assertThat(made.prompts()).extracting(Prompt::maxTokens).containsExactly(5);
    assertThat(made.prompts()).extracting(Prompt::inputTokens).containsExactly(-1);
    assertThat(made.notes())
        .containsExactly("Nobody counts tokens here: four characters are taken for one.");
  }

  @Test
  void moreThanThereAreAreDrawnAgainUnderOtherNames() throws Exception {
    Path file = file("p.jsonl", "{\"prompt\": \"One\"}\n{\"prompt\": \"Two\"}\n");

    Dataset made = datasets.make(DatasetOptions.of("file").withPath(file).withCount(10));

    assertThat(made.prompts()).hasSize(10);
    assertThat(made.prompts().stream().map(Prompt::name)).doesNotHaveDuplicates();
    assertThat(made.prompts().stream().map(Prompt::input).distinct()).hasSize(2);
    assertThat(made.notes())
        .containsExactly(
            "2 distinct prompts were drawn from to make 10: a server with a prefix cache knows the"
                + " repeated ones.");
    assertThat(datasets.make(DatasetOptions.of("file").withPath(file).withCount(10)))
        .isEqualTo(made);
    assertThat(datasets.make(unshuffled(file).withCount(10).withDrawing(false, false)))
        .satisfies(few -> {
          assertThat(few.prompts()).hasSize(2);
          assertThat(few.notes())
              .containsExactly("The prompts are 2, not the 10 that were asked for.");
        });
  }

  @Test
  void theSeedDecidesTheOrder() throws Exception {
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < 50; i++) {
      lines.append("{\"prompt\": \"number ").append(i).append("\"}\n");
    }
    Path file = file("p.jsonl", lines.toString());
    DatasetOptions options = DatasetOptions.of("file").withPath(file).withCount(20);

    assertThat(datasets.make(options)).isEqualTo(datasets.make(options));
    assertThat(datasets.make(options).prompts())
        .isNotEqualTo(datasets.make(options.withSeed(1)).prompts());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          {"prompt": "x"                       | at column 15: Unexpected end-of-input
          {"prompt": x}                        | at column 12: Unrecognized token 'x'
          {"prompt": "x", "output_tokens": NaN}| Non-standard token 'NaN'
          {"prompt": "x", "output_tokens": -1} | output_tokens is a whole number from 1 to 1000000, not -1
          {"prompt": "x", "output_tokens": 0}  | output_tokens is a whole number from 1 to 1000000, not 0
          {"prompt": "x", "output_tokens": 1e9}| output_tokens is a whole number from 1 to 1000000, not 1.0E9
          {"prompt": "x", "output_tokens": "9"}| output_tokens is a whole number from 1 to 1000000, not "9"
          {"messages": [{"role": "user"}], "max_tokens": 1000000000} | max_tokens is a whole number from 1 to 1000000, not 1000000000
          {"messages": [{"role": "user"}], "max_tokens": 99999999999999999999} | max_tokens is a whole number from 1 to 1000000, not 99999999999999999999
          {"messages": []}                     | messages is an array with at least one message
          {"messages": "hi"}                   | messages is an array with at least one message
          {"messages": [{"content": "x"}]}     | message 1 of 1 is no object with a role
          {"messages": [{"role": "user"}, 7]}  | message 2 of 2 is no object with a role
          {"messages": [{"role": "user", "content": 7}]} | message 1 of 1: content is a text, an array of parts or null
          {"messages": [{"role": "user"}], "tools": {}} | tools is an array
          {"conversations": {}}                | conversations is an array of turns
          {"conversations": [{"from": "human"}, {"value": "x"}]} | a turn of conversations has a text "value"
          {"prompt": ["a", "b"]}               | prompt is a text
          {"prompt": "a", "prompt": "b"}       | Duplicate Object property "prompt"
          {"prompt": "x", "name": "p-3"}       | the name "p-3" is that of line 3 already
          {"prompt": "x", "name": 7}           | name is a text of one line and at most 200 characters
          {"promt": "x", "id": 1}              | an entry has "messages", "conversations" or "prompt"; this one has promt, id
          {}                                   | an entry has "messages", "conversations" or "prompt"; this one has nothing
          {"prompt": "x"} {"prompt": "y"}      | more than one JSON object stands in the line
          [1]                                  | an entry is a JSON object
          """)
  void aFileThatIsBrokenAtLine17IsToldSo(String line17, String reason) throws Exception {
    StringBuilder lines = new StringBuilder();
    for (int i = 1; i < 17; i++) {
      lines.append("{\"prompt\": \"x\", \"name\": \"p-").append(i).append("\"}\n");
    }
    Path file = file("p.jsonl", lines + line17 + "\n{\"prompt\": \"y\"}\n");

    assertThatThrownBy(() -> datasets.make(unshuffled(file)))
        .isInstanceOfSatisfying(
            DatasetRefused.class, refused -> assertThat(refused.wrongUsage()).isFalse())
        .hasMessageStartingWith(file + " line 17: ")
        .hasMessageContaining(reason)
        .message()
        .doesNotContain("\n");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          {"prompt": "x" "y"}  | line 17: at column
          {"prompt": 7}        | line 17: prompt is a text
          {"prompt": "x"       | line 18: at column
          """)
  void anArrayThatIsBrokenAtLine17IsToldSo(String line17, String reason) throws Exception {
    StringBuilder lines = new StringBuilder("[\n");
    for (int i = 2; i < 17; i++) {
      lines.append("{\"prompt\": \"x\"},\n");
    }
    Path file = file("p.json", lines + line17 + ",\n{\"prompt\": \"y\"}\n]");

    assertThatThrownBy(() -> datasets.make(unshuffled(file))).hasMessageContaining(reason);
  }

  @Test
  void whatIsNoSuchFileIsToldByWhatItIs() throws Exception {
    assertRefused(folder.resolve("none"), "--dataset-path: there is no file ");
    assertRefused(folder, "is a folder, not a file");
    assertRefused(file("a", ""), "a is empty");
    assertRefused(file("b", " \n\n "), "b is empty");
    assertRefused(file("c", "name,prompt\n"), "c line 1: neither a JSON object a line (JSONL) nor");
    assertRefused(
        file("d", "\uFEFF{\"prompt\": \"x\"}"), "d line 1: it begins with a byte order mark");
    assertRefused(
        file("e", "{\"prompt\": \"x\"}".getBytes(UTF_16)), "byte order mark or is no UTF-8");
    assertRefused(file("f", "[]"), "f has no entry that can be used");
    assertRefused(file("g", "[{\"prompt\": \"x\"}"), "g line 1: ");
    assertRefused(file("h", "[{\"prompt\": \"x\"}] 7"), "h line 1: something follows the array");
    byte[] latin =
        "{\"prompt\": \"caf\u00e9\"}".getBytes(java.nio.charset.StandardCharsets.ISO_8859_1);
    assertRefused(file("i", latin), "i line 1: at column");
    assertRefused(
        file("j", "{\"prompt\": " + "[".repeat(5_000) + "]".repeat(5_000) + "}"), "j line 1: ");
    assertThatThrownBy(() -> datasets.make(DatasetOptions.of("file")))
        .hasMessage("--dataset file needs --dataset-path with a JSONL or JSON file");
  }

  @Test
  void entriesAndFilesHaveTheirLimits() throws Exception {
    DatasetLimits d = DatasetLimits.DEFAULTS;
    DatasetLimits small =
        new DatasetLimits(
            d.promptsMax(),
            d.tokensMax(),
            d.promptsBytesMax(),
            1 << 20,
            10,
            1 << 20,
            d.depthMax(),
            Duration.ofSeconds(1),
            d.generateTime(),
            d.countBytesMax(),
            d.checkedMax(),
            d.generatedCountsMax());
    Datasets tight = new Datasets(server, "scripted", small);
    String huge = "{\"prompt\": \"" + "x".repeat(2 << 20) + "\"}";

    assertThatThrownBy(() -> tight.make(unshuffled(file("l.jsonl", huge))))
        .hasMessageEndingWith("line 1: the entry is longer than 1 MiB");
    assertThatThrownBy(() -> tight.make(unshuffled(file("a.json", "[\n\n" + huge + "]"))))
        .hasMessageContaining("a.json line ");
    Dataset cut = tight.make(unshuffled(file("m.jsonl", "{\"prompt\": \"x\"}\n".repeat(20))));
    assertThat(cut.prompts()).hasSize(10);
    assertThat(cut.notes())
        .containsExactly(
            "Only the first 10 entries of m.jsonl are used: more are not held in memory.");
  }

  private void assertRefused(Path file, String message) {
    assertThatThrownBy(() -> datasets.make(unshuffled(file)))
        .isInstanceOf(DatasetRefused.class)
        .hasMessageContaining(message);
  }

  private static DatasetOptions unshuffled(Path file) {
    return DatasetOptions.of("file").withPath(file).withDrawing(false, true);
  }

  private static String share(String prompt, String answer) {
    return "{\"id\": \"x\", \"conversations\": [{\"from\": \"human\", \"value\": \"%s\"}, {\"from\": \"gpt\", \"value\": \"%s\"}, {\"from\": \"human\", \"value\": \"more\"}]}"
        .formatted(prompt, answer);
  }

  private Path file(String name, String text) throws IOException {
    return file(name, text.getBytes(UTF_8));
  }

  private Path file(String name, byte[] bytes) throws IOException {
    return Files.write(folder.resolve(name), bytes);
  }
}
