package dev.flotilla.bench.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What {@code --engine} may say. */
final class EngineChoiceTest {
  private static final Setting SETTING =
      new Setting("/m/a model.gguf", 3, 2048, OptionalInt.of(2), Optional.empty());

  @Test
  void aKnownEngineIsNamedAlone() throws Exception {
    assertThat(EngineChoice.parse("llama-server"))
        .isInstanceOfSatisfying(
            EngineChoice.Known.class, known -> assertThat(known.options()).isEmpty());
  }

  @Test
  void aKnownEngineMayHaveANameAndOptionsOfItsOwn() throws Exception {
    assertThat(EngineChoice.parse("one=llama-server -np 1 --no-warmup --flash-attn on"))
        .isInstanceOfSatisfying(
            EngineChoice.Known.class,
            known -> {
              assertThat(known.name()).isEqualTo("one");
              assertThat(known.engine()).isEqualTo("llama-server");
              assertThat(known.options().toString()).isEqualTo("{np=1, no-warmup=, flash-attn=on}");
            });
  }

  @Test
  void anAddressIsAServerThatRuns() throws Exception {
    assertThat(EngineChoice.parse("there=http://10.0.0.7:8000/v1"))
        .isEqualTo(new EngineChoice.Address("there", URI.create("http://10.0.0.7:8000/v1")));
  }

  @Test
  void aCommandLineIsFilledWordByWord() throws Exception {
    EngineChoice choice =
        EngineChoice.parse(
            "mine=env A=b '/opt/my engine' -m {model} --port={port} -c {context-total} \"x  y\" ''");
    assertThat(choice)
        .isInstanceOfSatisfying(
            EngineChoice.Command.class,
            command ->
                assertThat(command.template().fill(SETTING, 99))
                    .isEqualTo(
                        List.of(
                            "env",
                            "A=b",
                            "/opt/my engine",
                            "-m",
                            "/m/a model.gguf",
                            "--port=99",
                            "-c",
                            "6144",
                            "x  y",
                            "")));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "mine=serve --port 80 | it has no {port}",
        "mine=serve {prot} {port} | {prot} is none of its places",
        "mine=serve 'open {port} | is never closed",
        "mine= | it is empty",
        "vllm | vllm is none that is known (builtin, llama-server); say how it is started",
        "=serve {port} | it begins with no name",
        "a b=serve {port} | it begins with no name",
        "there=http:// | that is no address of a server",
        "there=http://u:secret@h/v1 | that is no address of a server",
        "one=llama-server flash | 'flash' is no option",
      })
  void whatCantBeMeantIsSaidInOneSentence(String text, String said) {
    assertThatThrownBy(() -> EngineChoice.parse(text))
        .isInstanceOf(CommandTemplate.Malformed.class)
        .hasMessageContaining(said.strip());
  }
}
