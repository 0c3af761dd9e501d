package dev.flotilla.wire.fleet;

import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * What the hub wants one worker to be: the model's promise and the recipe that was chosen for the
 * node. The agent turns it into a command line; two equal specs describe the same process.
 *
 * @param id the worker's name, unique in the fleet: {@code NODE/MODEL-N}
 * @param model the public name
 * @param engine which adapter starts it, such as {@code llama-server}
 * @param source where the weights are: a path, {@code hf:}, {@code https:} or {@code pip:}
 *     reference; a file or a folder, as the engine reads them
 * @param contextTokens tokens that one request may use, prompt and answer together
 * @param slots requests that run at once; {@link #AUTO_SLOTS} for {@value #AUTO_SLOTS_MAX}, or
 *     fewer where memory says so
 * @param reasoning where the model's reasoning is promised to be
 * @param tools whether tool calls are promised to arrive as {@code tool_calls}
 * @param embeddings whether the worker answers {@code /v1/embeddings} (and nothing else)
 * @param chat how the engine writes and reads chats, where that is not left to the model's own file
 * @param args the recipe's extra engine options, name without dashes to value, in the file's order
 */
public record WorkerSpec(
    String id,
    String model,
    String engine,
    String source,
    int contextTokens,
    int slots,
    Reasoning reasoning,
    boolean tools,
    boolean embeddings,
    Chat chat,
    Map<String, String> args) {

  /** In place of a number of slots: as many as are useful. */
  public static final int AUTO_SLOTS = 0;

  /** Slots that a worker with {@link #AUTO_SLOTS} is started with where memory has room. */
  public static final int AUTO_SLOTS_MAX = 4;

  public WorkerSpec {
    // What an older hub stored or says has none.
    chat = Objects.requireNonNullElse(chat, Chat.OWN);
    args = java.util.Collections.unmodifiableMap(new java.util.LinkedHashMap<>(args));
  }

  /** The same worker with a number of slots. */
  public WorkerSpec withSlots(int number) {
    return new WorkerSpec(
        id, model, engine, source, contextTokens, number, reasoning, tools, embeddings, chat, args);
  }

  /** A worker that leaves its chats to the model's own file. */
  public WorkerSpec(
      String id,
      String model,
      String engine,
      String source,
      int contextTokens,
      int slots,
      Reasoning reasoning,
      boolean tools,
      boolean embeddings,
      Map<String, String> args) {
    this(
        id,
        model,
        engine,
        source,
        contextTokens,
        slots,
        reasoning,
        tools,
        embeddings,
        Chat.OWN,
        args);
  }

  /**
   * What the recipe says of chats; each is empty where it says nothing.
   *
   * @param toolParser vllm's parser of what this kind of model writes when it calls a tool
   * @param reasoningParser vllm's parser of what this kind of model writes when it thinks
   * @param template file on the node with the chat template (Jinja)
   */
  public record Chat(String toolParser, String reasoningParser, String template) {
    public static final Chat OWN = new Chat("", "", "");
  }

  /** The place of the reasoning in a reply, as the promise names it. */
  public enum Reasoning {
    /** {@code <think>…</think>} stays in {@code content}. */
    INLINE("inline"),
    /** The field {@code reasoning_content} beside {@code content}, as llama-server has it. */
    REASONING_CONTENT("reasoning_content"),
    /** The field {@code reasoning} beside {@code content}, as vLLM has it. */
    REASONING("reasoning"),
    /** The model is told not to think, and if it does all the same, nobody sees it. */
    OFF("off");

    private final String word;

    Reasoning(String word) {
      this.word = word;
    }

    /** The word in {@code fleet.yaml}. */
    public String word() {
      return word;
    }

    /** The words that {@code fleet.yaml} may use, in the order of the constants. */
    public static List<String> words() {
      return List.of(INLINE.word, REASONING_CONTENT.word, REASONING.word, OFF.word);
    }
  }
}
