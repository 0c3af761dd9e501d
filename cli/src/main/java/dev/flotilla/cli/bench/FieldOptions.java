package dev.flotilla.cli.bench;

import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;

/**
 * Options of {@code vllm bench serve} that are not here: each is refused by its name, with what
 * comes nearest. To take one silently would measure something else than was asked for.
 */
final class FieldOptions {
  private static final Map<String, String> REFUSED = new LinkedHashMap<>();

  static {
    for (String field :
        new String[] {
          "temperature",
          "top_p",
          "top_k",
          "min_p",
          "frequency_penalty",
          "presence_penalty",
          "repetition_penalty",
          "logprobs"
        }) {
      refuse(
          "--" + field.replace('_', '-'),
          "put it in the request with --extra-body '{\"" + field + "\":…}'");
    }
    String tokenizer = "tokens are counted by the server's own tokenizer; leave it out";
    refuse("--tokenizer", tokenizer);
    refuse("--tokenizer-mode", tokenizer);
    refuse("--skip-tokenizer-init", tokenizer);
    refuse("--trust-remote-code", "no code of a model runs here; leave it out");
    refuse("--insecure", "name the certificate's authority with --ca FILE");
    refuse("--use-beam-search", "put use_beam_search in the request with --extra-body");
    refuse("--lora-modules", "name the adapter with --model, one run for each");
    refuse("--lora-assignment", "name the adapter with --model, one run for each");
    refuse("--profile", "start the engine's own profiler beside the run");
    refuse("--request-id-prefix", "send an id with --header x-request-id=…");
    refuse("--no-stream", "times of tokens are known of streams only; leave it out");
    refuse("--plot-timeline", "--save-result --save-detailed keeps every time");
    refuse("--plot-dataset-stats", "--save-result --save-detailed keeps every length");
    refuse("--timeline-itl-thresholds", "--save-result --save-detailed keeps every time");
    refuse("--skip-chat-template", "--backend openai asks without a template");
    refuse("--enable-multimodal-chat", "only text is asked here");
    for (String set : new String[] {"hf-name", "hf-subset", "hf-split", "hf-output-len"}) {
      refuse("--" + set, "save the data set as JSONL and use --dataset file --dataset-path FILE");
    }
    for (String set :
        new String[] {
          "sonnet-input-len",
          "sonnet-output-len",
          "sonnet-prefix-len",
          "random-batch-size",
          "prefix-repetition-prefix-len",
          "prefix-repetition-suffix-len",
          "prefix-repetition-num-prefixes",
          "prefix-repetition-output-len"
        }) {
      refuse("--" + set, "--dataset random with --prefix-len makes prompts that begin alike");
    }
  }

  private FieldOptions() {}

  private static void refuse(String option, String instead) {
    REFUSED.put(option, instead);
  }

  /** Teaches a command to refuse them. */
  static void refuse(CommandSpec command) {
    REFUSED.forEach((name, instead) ->
        command.addOption(
            OptionSpec.builder(name)
                .hidden(true)
                .arity("0")
                .type(Boolean.class)
                .setter(new OptionSpecSetter(command, name, instead))
                .build()));
  }

  /** Throws where the option is given. */
  private record OptionSpecSetter(CommandSpec command, String name, String instead)
      implements picocli.CommandLine.Model.ISetter {
    @Override
    public <T> T set(T value) {
      if (Boolean.TRUE.equals(value)) {
        throw new ParameterException(
            command.commandLine(), name + " of vllm bench serve is not here: " + instead);
      }
      return value;
    }
  }
}
