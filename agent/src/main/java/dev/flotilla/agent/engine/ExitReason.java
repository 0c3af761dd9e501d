package dev.flotilla.agent.engine;

import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Why an engine ended, from its exit code and its last lines. The code alone says little: bad
 * options, a bad model and a taken port are all 1.
 */
final class ExitReason {
  private static final int QUOTED_CHARS_MAX = 300;

  /** Exit codes of processes that somebody else ended: 128 and the signal's number. */
  private static final int KILLED = 137;

  private static final int ENDED = 143;
  private static final Pattern MEMORY =
      Pattern.compile(
          "(?i)out of ?memory|failed to allocate|cudaMalloc failed|unable to allocate|cannot allocate"
              + "|Insufficient Memory|Available memory on node .* is less than|No available memory for the cache");

  /** llama.cpp's prefix of a line, and those of Python's loggers as vLLM and mlx-lm set them up. */
  private static final Pattern PREFIX =
      Pattern.compile(
          "^(?:\\d+\\.\\d+\\.\\d+\\.\\d+ \\w "
              + "|(?:\\([A-Za-z_0-9 ]+pid=\\d+\\) )?(?:(?:ERROR|WARNING|INFO) \\d\\d-\\d\\d [\\d:]+ (?:\\[[^]]*\\] )?)?"
              + "|\\d{4}-\\d\\d-\\d\\d [\\d:,]+ - \\w+ - )");

  private static final Pattern PORT_TAKEN =
      Pattern.compile("(?i)\\[Errno (?:98|48)\\].*|address already in use.*");

  private static final Pattern PYTHON_OPTION =
      Pattern.compile("error: (?:unrecognized arguments?:.*|argument .*|ambiguous option.*)");

  /** The last line of a traceback; that an engine's core failed says nothing of why. */
  private static final Pattern PYTHON_ERROR =
      Pattern.compile(
          "(?<![\\w.])(?:[a-z_]+\\.)*[A-Z]\\w*(?:Error|Exception): (?!Engine core initialization failed).*");

  static final ExitReason LLAMA_SERVER =
      new ExitReason(
          List.of(
              known(
                  "couldn't bind .*port: (\\d+)",
                  found -> "Its port %s is taken by another program".formatted(found.group(1))),
              known(
                  "unknown model architecture: '([^']*)'",
                  found ->
                      "This llama-server does not know the model's architecture '%s'; a newer one may"
                          .formatted(quoted(found.group(1)))),
              known(
                  "error: (?:invalid argument: .*|while handling argument .*)",
                  found -> "It does not take one of its options: " + quoted(found.group()))),
          known(
              "(?i).*(?:failed to load model|error loading model|exiting due to model loading).*",
              found -> "It could not load the model: " + quoted(found.group())));

  static final ExitReason VLLM =
      new ExitReason(
          List.of(
              known(PORT_TAKEN, found -> "Its port is taken by another program"),
              known(
                  "reasoning parser could not locate.*",
                  found ->
                      "Its reasoning parser finds no token for thoughts in this model's tokenizer;"
                          + " leave reasoning-parser out or name the one for this model"),
              known(
                  "(?i)tool (?:call )?(?:parser|extractor) could not locate.*|Llama3JsonToolParser could not.*",
                  found ->
                      "Its tool parser finds none of its tokens in this model's tokenizer; name the"
                          + " tool-parser for this model"),
              known(
                  "invalid (tool call|reasoning) parser: (\\S+)",
                  found ->
                      "It knows no %s parser '%s'; 'vllm serve --help=all' lists those that it has"
                          .formatted(found.group(1), quoted(found.group(2)))),
              known(
                  "max_model_len[^.]*? is greater than the derived max_model_len.*",
                  found ->
                      "The model was made for a shorter context than promise.context: "
                          + quoted(found.group())),
              known(
                  "\\((\\S+ GiB) KV cache is needed, which is larger than the available KV cache"
                      + " memory \\((\\S+ GiB)\\)",
                  found ->
                      "Its cache has %s, and one request of promise.context takes %s; set kv-cache-memory-bytes or gpu-memory-utilization in args"
                          .formatted(found.group(2), found.group(1))),
              known(
                  "model type `(\\w+)` but Transformers does not recognize",
                  found ->
                      "This vLLM does not know the model's type '%s'; a newer one may"
                          .formatted(found.group(1))),
              known(
                  "Model architectures (\\[.*?\\]) (?:are not supported|failed to be inspected).*",
                  found ->
                      "This vLLM does not know the model's architecture %s; a newer one may"
                          .formatted(quoted(found.group(1)))),
              known(
                  PYTHON_OPTION,
                  found -> "It does not take one of its options: " + quoted(found.group()))),
          known(PYTHON_ERROR, found -> "It failed: " + quoted(found.group())));

  static final ExitReason BUILTIN =
      new ExitReason(
          List.of(
              known(
                  "java.lang.OutOfMemoryError.*",
                  found -> "Its heap was too small: " + quoted(found.group())),
              known("^flotilla: (.*)", found -> "It says: " + quoted(found.group(1)))),
          known("^Exception in thread.*", found -> "It failed: " + quoted(found.group())));

  static final ExitReason MLX_LM =
      new ExitReason(
          List.of(
              known(PORT_TAKEN, found -> "Its port is taken by another program"),
              known(
                  "Model type (\\S+) not supported",
                  found ->
                      "This mlx-lm does not know the model's type '%s'; a newer one may"
                          .formatted(quoted(found.group(1)))),
              known(
                  "No module named '(mlx[\\w.]*)'",
                  found ->
                      "Its Python has no %s: on Linux install mlx-lm[cpu], on a Mac mlx-lm"
                          .formatted(found.group(1))),
              known(
                  PYTHON_OPTION,
                  found -> "It does not take one of its options: " + quoted(found.group()))),
          known(PYTHON_ERROR, found -> "It failed: " + quoted(found.group())));

  private record Known(Pattern pattern, Function<MatchResult, String> sentence) {}

  private final List<Known> known;
  private final Known general;

  private ExitReason(List<Known> known, Known general) {
    this.known = known;
    this.general = general;
  }

  private static Known known(String pattern, Function<MatchResult, String> sentence) {
    return known(Pattern.compile(pattern), sentence);
  }

  private static Known known(Pattern pattern, Function<MatchResult, String> sentence) {
    return new Known(pattern, sentence);
  }

  /**
   * The last line that names a known reason, else the first that names a general one; of a process
   * that was killed, who is not told by what it said, the signal alone.
   */
  String explain(int exitCode, List<String> lines) {
    String how = how(exitCode);
    if (exitCode == KILLED || exitCode == ENDED) {
      // Whoever did it did not ask, so what was said before tells nothing, but for memory's want.
      return lines.reversed().stream()
          .flatMap(line -> wantOfMemory(line, how).stream())
          .findFirst()
          .orElse("It %s.".formatted(how));
    }
    for (String line : lines.reversed()) {
      for (Known each : known) {
        Optional<String> sentence = sentence(each, line);
        if (sentence.isPresent()) {
          return "%s (%s).".formatted(sentence.get(), how);
        }
      }
      Optional<String> wanted = wantOfMemory(line, how);
      if (wanted.isPresent()) {
        return wanted.get();
      }
    }
    for (String line : lines) {
      Optional<String> sentence = sentence(general, line);
      if (sentence.isPresent()) {
        return "%s (%s).".formatted(sentence.get(), how);
      }
    }
    String last =
        lines.isEmpty() ? "it said nothing" : "its last line was: " + quoted(lines.getLast());
    return "It %s; %s.".formatted(how, last);
  }

  private static Optional<String> wantOfMemory(String line, String how) {
    return MEMORY.matcher(line).find()
        ? Optional.of("It ran out of memory: %s (%s).".formatted(quoted(line), how))
        : Optional.empty();
  }

  private static Optional<String> sentence(Known known, String line) {
    Matcher matcher = known.pattern().matcher(line);
    return matcher.find() ? Optional.of(known.sentence().apply(matcher)) : Optional.empty();
  }

  /** A code above 128 is a signal's number plus 128. */
  private static String how(int exitCode) {
    return switch (exitCode) {
      case EngineAdapter.NO_EXIT -> "can't serve any more, though its process exists";
      case KILLED ->
          "was killed by signal 9 (SIGKILL), by hand or by the system for want of memory";
      case ENDED -> "was ended by signal 15 (SIGTERM), by hand or by another program";
      case 139 -> "crashed with signal 11 (SIGSEGV)";
      case 134 -> "gave up with signal 6 (SIGABRT)";
      case 132 -> "crashed with signal 4 (SIGILL): it was built for another processor";
      default ->
          exitCode > 128 && exitCode < 160
              ? "was ended by signal " + (exitCode - 128)
              : "ended with exit code " + exitCode;
    };
  }

  private static String quoted(String line) {
    String text = PREFIX.matcher(line).replaceFirst("").strip().replaceAll("\\p{Cntrl}", "?");
    return text.length() <= QUOTED_CHARS_MAX ? text : text.substring(0, QUOTED_CHARS_MAX) + "…";
  }
}
