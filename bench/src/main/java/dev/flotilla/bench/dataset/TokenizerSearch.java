package dev.flotilla.bench.dataset;

import dev.flotilla.bench.dataset.Server.Reply;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ToIntFunction;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * What of a server counts tokens, found by asking, the best first: llama-server's and vLLM's {@code
 * /tokenize}, which both have beside {@code /v1} and not under it, each with a form of its own;
 * else {@code usage.prompt_tokens} of requests for one token, which any server with OpenAI's API
 * has, the hub among them.
 *
 * <p>A difference of two such requests takes off what the chat template adds. They leave their
 * prompts in the server's prefix cache, so the prompts of the run itself are never counted so.
 *
 * @param tokenizer what counts; empty where nothing does
 * @param words who counts, or why nobody does
 */
record TokenizerSearch(Optional<Tokenizer> tokenizer, String words) {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();
  private static final String ONE = "The";
  private static final String TWO = "The The";

  /** How a server's {@code /tokenize} is asked. */
  private enum Form {
    LLAMA_SERVER("llama-server's /tokenize", "content", "add_special") {
      @Override
      int tokens(JsonNode reply) {
        return reply.path("tokens").isArray() ? reply.path("tokens").size() : -1;
      }
    },
    VLLM("vLLM's /tokenize", "prompt", "add_special_tokens") {
      @Override
      int tokens(JsonNode reply) {
        return reply.path("count").isInt() ? reply.path("count").asInt() : -1;
      }
    };

    private final String words;
    private final String textField;
    private final String specialsField;

    Form(String words, String textField, String specialsField) {
      this.words = words;
      this.textField = textField;
      this.specialsField = specialsField;
    }

    /** The count that the reply tells; -1 where it tells none. */
    abstract int tokens(JsonNode reply);
  }

  static TokenizerSearch of(Server server, String model, DatasetLimits limits) {
    String why = "";
    for (Form form : Form.values()) {
      try {
        Tokenize bare = new Tokenize(server, model, limits, form, 0);
        int one = bare.count(ONE);
        int whole = bare.tokens(ONE, true);
        // A server that passes over the fields that it does not know counts nothing.
        if (one > 0 && bare.count(TWO) > one && whole >= one) {
          return found(new Tokenize(server, model, limits, form, whole - one));
        }
      } catch (IOException e) {
        why = e.getMessage();
      }
    }
    for (String path : new String[] {Generated.CHAT, Generated.COMPLETIONS}) {
      try {
        Generated whole = new Generated(server, model, limits, path, 0);
        int one = whole.count(ONE);
        int added = one - (whole.count(TWO) - one);
        if (added >= 0 && added < one) {
          return found(new Generated(server, model, limits, path, added));
        }
        why = "its usage does not grow with the prompt";
      } catch (IOException e) {
        why = e.getMessage();
      }
    }
    return new TokenizerSearch(
        Optional.empty(),
        "nobody counts tokens at " + server.url() + " (" + why + "); each word is taken for one");
  }

  /**
   * Tokens that the chat template puts around one message; 0 where the server does not say. Costs
   * it two requests for one token.
   */
  static int templateTokens(Server server, String model, DatasetLimits limits) {
    try {
      Generated whole = new Generated(server, model, limits, Generated.CHAT, 0);
      int one = whole.count(ONE);
      return Math.max(0, one - (whole.count(TWO) - one));
    } catch (IOException e) {
      // Then lengths are a little longer than recorded, and the load will tell what is wrong.
      return 0;
    }
  }

  private static TokenizerSearch found(Tokenizer tokenizer) {
    return new TokenizerSearch(Optional.of(tokenizer), tokenizer.words());
  }

  private static void checkLength(String text, DatasetLimits limits) throws IOException {
    if (text.length() > limits.countBytesMax()) {
      throw new IOException(
          "a text of "
              + text.length()
              + " characters is not counted; the most is "
              + limits.countBytesMax());
    }
  }

  private static int counted(Reply reply, String path, ToIntFunction<JsonNode> tokens)
      throws IOException {
    if (!reply.ok()) {
      throw new IOException(path + " answers " + reply.trouble());
    }
    int count = tokens.applyAsInt(reply.json());
    if (count < 0) {
      throw new IOException("the answer of " + path + " holds no count of tokens");
    }
    return count;
  }

  /** A server's own tokenizer. */
  private record Tokenize(
      Server server, String model, DatasetLimits limits, Form form, int specials)
      implements Tokenizer {

    @Override
    public int count(String text) throws IOException {
      return text.isEmpty() ? 0 : tokens(text, false);
    }

    int tokens(String text, boolean withSpecials) throws IOException {
      checkLength(text, limits);
      ObjectNode question =
          MAPPER
              .createObjectNode()
              .put("model", model)
              .put(form.textField, text)
              .put(form.specialsField, withSpecials);
      Reply reply = server.post("/tokenize", question, limits.countTime());
      return counted(reply, "/tokenize", form::tokens);
    }

    @Override
    public boolean cheap() {
      return true;
    }

    @Override
    public String words() {
      return form.words;
    }
  }

  /** The usage of requests for one token. */
  private record Generated(
      Server server,
      String model,
      DatasetLimits limits,
      String path,
      int added,
      AtomicInteger asked)
      implements Tokenizer {

    static final String CHAT = "/v1/chat/completions";
    static final String COMPLETIONS = "/v1/completions";

    Generated(Server server, String model, DatasetLimits limits, String path, int added) {
      this(server, model, limits, path, added, new AtomicInteger());
    }

    @Override
    public int count(String text) throws IOException {
      checkLength(text, limits);
      if (asked.incrementAndGet() > limits.generatedCountsMax()) {
        throw new IOException(
            "no more than " + limits.generatedCountsMax() + " requests are made to count tokens");
      }
      ObjectNode request = MAPPER.createObjectNode().put("model", model).put("max_tokens", 1);
      if (path.equals(CHAT)) {
        request.putArray("messages").addObject().put("role", "user").put("content", text);
      } else {
        request.put("prompt", text);
      }
      Reply reply = server.post(path, request, limits.generateTime());
      int whole =
          counted(
              reply,
              path,
              json -> {
                JsonNode tokens = json.path("usage").path("prompt_tokens");
                return tokens.isInt() ? tokens.asInt() : -1;
              });
      return Math.max(0, whole - added);
    }

    @Override
    public int specials() {
      return path.equals(COMPLETIONS) ? added : 0;
    }

    @Override
    public boolean cheap() {
      return false;
    }

    @Override
    public String words() {
      return "usage of requests for one token, as the server has no /tokenize";
    }
  }
}
