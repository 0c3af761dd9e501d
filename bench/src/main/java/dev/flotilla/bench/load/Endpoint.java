package dev.flotilla.bench.load;

import java.util.Arrays;
import java.util.Optional;

/** Which of OpenAI's endpoints is asked, by the names that the field's tools have for them. */
public enum Endpoint {
  OPENAI_CHAT("openai-chat", "/chat/completions"),
  OPENAI("openai", "/completions");

  private final String word;
  private final String path;

  Endpoint(String word, String path) {
    this.word = word;
    this.path = path;
  }

  /** As {@code --backend} has it. */
  public String word() {
    return word;
  }

  /** Below the API's base, which mostly ends with {@code /v1}. */
  public String path() {
    return path;
  }

  /** {@code vllm} is the completions endpoint, as in {@code vllm bench serve}. */
  public static Optional<Endpoint> of(String word) {
    return Arrays.stream(values())
        .filter(each -> each.word.equals(word) || (each == OPENAI && word.equals("vllm")))
        .findFirst();
  }
}
