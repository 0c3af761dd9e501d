package dev.flotilla.agent.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.flotilla.wire.fleet.WorkerSpec;
import dev.flotilla.wire.fleet.WorkerSpec.Chat;
import dev.flotilla.wire.release.ReleaseKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.AbstractStringAssert;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PolicyTest {
  @TempDir Path home;

  @Test
  void withoutAFileAnAgentInstallsNothingAndReadsItsOwnModelsOnly() throws Exception {
    Policy policy = Policy.forAgent(home);

    assertThat(policy.engine("llama-server").orElseThrow().install()).isFalse();
    assertThat(policy.memoryFraction()).isEqualTo(0.75);
    assertThat(policy.check(spec("pip:x==1/m.gguf", Map.of()))).isEmpty();
    assertThat(policy.check(spec("hf:o/r/m.gguf", Map.of()))).isEmpty();
    assertThat(policy.check(spec(home.resolve("models/m.gguf").toString(), Map.of()))).isEmpty();
    assertThat(policy.check(spec("/etc/shadow", Map.of())).orElseThrow())
        .contains("does not allow model files outside " + home.resolve("models"))
        .contains("under folders in " + home.resolve("agent/policy.yaml"));
    assertThat(policy.check(spec("http://host/m.gguf", Map.of())).orElseThrow())
        .contains("does not allow models by http:");
  }

  @Test
  void upMayInstallAndReadsModelsFromAnywhere() throws Exception {
    Policy policy = Policy.forUp(home);

    assertThat(policy.engine("llama-server").orElseThrow().install()).isTrue();
    assertThat(policy.check(spec("/anywhere/m.gguf", Map.of()))).isEmpty();
    assertThat(policy.check(spec("m.gguf", Map.of("mmproj", "/anywhere/p.gguf")))).isEmpty();
  }

  @Test
  void theFileSaysMore() throws Exception {
    write(
        """
        engines:
          llama-server: { path: /opt/llama-server, install: true }
        sources: [file]
        folders: [/srv/models]
        flags: { forbidden: [threads] }
        memory-fraction: 0.5
        """);
    Policy policy = Policy.forAgent(home);

    assertThat(policy.engine("llama-server").orElseThrow().path())
        .contains(Path.of("/opt/llama-server"));
    assertThat(policy.engine("llama-server").orElseThrow().install()).isTrue();
    assertThat(policy.memoryFraction()).isEqualTo(0.5);
    assertThat(policy.check(spec("/srv/models/a/m.gguf", Map.of()))).isEmpty();
    assertThat(policy.check(spec("/srv/models/../../etc/shadow", Map.of()))).isPresent();
    assertThat(policy.check(spec("hf:o/r/m.gguf", Map.of())).orElseThrow())
        .contains("models by hf:");
    assertThat(policy.check(spec("/srv/models/m.gguf", Map.of("threads", "2"))).orElseThrow())
        .contains("the option threads; take it from flags: forbidden");
    assertThat(policy.check(spec("/srv/models/m.gguf", Map.of("rpc", "h:1"))).orElseThrow())
        .contains("the option rpc");
    assertThat(policy.check(spec("/srv/models/m.gguf", Map.of("lora", "/etc/x"))).orElseThrow())
        .contains("the option lora with a file outside");
  }

  @Test
  void aListOfAllowedOptionsIsTheWholeList() throws Exception {
    write("flags: { allowed: [threads, rpc] }");
    Policy policy = Policy.forUp(home);

    assertThat(policy.check(spec("m.gguf", Map.of("threads", "2", "rpc", "h:1")))).isEmpty();
    assertThat(policy.check(spec("m.gguf", Map.of("flash-attn", "on"))).orElseThrow())
        .contains("the option flash-attn; add it under flags: allowed");
  }

  @Test
  void optionsThatAnEngineTakesByTheirBeginningAreForbiddenByIt() throws Exception {
    Policy policy = Policy.forUp(home);
    for (String option : List.of("trust-remote-code", "trust_remote_code", "trust", "middle")) {
      assertThat(policy.check(worker("vllm", Chat.OWN, Map.of(option, "true"))).orElseThrow())
          .contains("does not allow the option ");
    }
    assertThat(policy.check(worker("vllm", Chat.OWN, Map.of("dtype", "float32")))).isEmpty();
    assertThat(policy.check(worker("mlx-lm", Chat.OWN, Map.of("temp", "0.5")))).isEmpty();
    assertThat(policy.check(worker("llama-server", Chat.OWN, Map.of("trust", "true")))).isEmpty();
  }

  @Test
  void aTemplateIsAFileLikeOthers() throws Exception {
    Chat chat = new Chat("", "", "/etc/secret.jinja");
    assertThat(Policy.forUp(home).check(worker("vllm", chat, Map.of()))).isEmpty();
    assertThat(Policy.forAgent(home).check(worker("vllm", chat, Map.of())).orElseThrow())
        .contains("a chat-template outside " + home.resolve("models"));
    assertThat(
            Policy.forAgent(home)
                .check(worker("vllm", Chat.OWN, Map.of("tokenizer", "/etc/x")))
                .orElseThrow())
        .contains("the option tokenizer with a file outside");
  }

  private WorkerSpec worker(String engine, Chat chat, Map<String, String> args) {
    return new WorkerSpec(
        "node/m-1",
        "m",
        engine,
        home.resolve("models/m").toString(),
        4096,
        4,
        WorkerSpec.Reasoning.INLINE,
        false,
        false,
        chat,
        args);
  }

  @Test
  void aLinkLeadsOutOfNoFolder() throws Exception {
    Path models = Files.createDirectories(home.resolve("models"));
    Path secret = Files.createFile(home.resolve("secret.gguf"));
    Path link = Files.createSymbolicLink(models.resolve("m.gguf"), secret);
    assertThat(Policy.forAgent(home).check(spec(link.toString(), Map.of()))).isPresent();
  }

  @Test
  void anEngineThatIsNotListedIsRefused() throws Exception {
    write("engines: {}");
    assertThat(Policy.forUp(home).check(spec("m.gguf", Map.of())).orElseThrow())
        .contains("does not allow the engine llama-server; add it under engines");
  }

  @Test
  void nobodyIsTrustedWithUpdatesUnlessTheFileNamesAKey() throws Exception {
    assertThat(Policy.forAgent(home).updateKeys()).isEmpty();
    ReleaseKey key = ReleaseKey.generate().key();
    write("update: { keys: [\"" + key.text() + "\"] }");
    assertThat(Policy.forAgent(home).updateKeys()).containsExactly(key);
    write("update: {}");
    assertThat(Policy.forAgent(home).updateKeys()).isEmpty();
  }

  @Test
  void whatNobodyKnowsIsRefusedWithLineAndNearestKey() throws Exception {
    refused("engines: {}\nsauces: [file]", "line 2: 'sauces' is not a key of the policy")
        .contains("the nearest is 'sources'");
    refused("sources: [htps]", "line 1: 'htps' is not a source; the nearest is 'https'");
    refused("engines:\n  lama-server: {}", "line 2: 'lama-server' is not a key of engines");
    refused("engines:\n  llama-server: { instal: true }", "the nearest is 'install'");
    refused("engines:\n  llama-server: { install: yes }", "install is true or false, not yes");
    refused("memory-fraction: 80%", "a number from 0.05 to 1, not 80%");
    refused("folders: [models]", "'models' is not a whole path");
    refused("flags: { allowed: [--threads] }", "without its dashes");
    refused("sources: file", "a list is expected");
    refused("- a", "the policy is a mapping");
    refused("update: { key: [] }", "'key' is not a key of update; the nearest is 'keys'");
    refused("update:\n  keys: [\"ed25519:AAAA\"]", "line 2: 'ed25519:AAAA' is no key for updates")
        .contains("'flotilla release keygen' prints one");
    refused("update: { keys: ed25519 }", "a list is expected");
    refused("sources: [file]\nsources: [hf]", "");
    refused("a: [", "line 1");
  }

  private AbstractStringAssert<?> refused(String text, String reason) throws IOException {
    write(text);
    PolicyRefused refusal = catchThrowableOfType(PolicyRefused.class, () -> Policy.forAgent(home));
    return assertThat(refusal.getMessage()).contains("policy.yaml").contains(reason);
  }

  private void write(String text) throws IOException {
    Files.createDirectories(home.resolve("agent"));
    Files.writeString(home.resolve("agent/policy.yaml"), text);
  }

  private static WorkerSpec spec(String source, Map<String, String> args) {
    return new WorkerSpec(
        "node/m-1",
        "m",
        "llama-server",
        source,
        4096,
        4,
        WorkerSpec.Reasoning.INLINE,
        false,
        false,
        args);
  }
}
