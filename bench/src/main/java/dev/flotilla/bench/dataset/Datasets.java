package dev.flotilla.bench.dataset;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.URLEncoder;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Makes the prompts of a run. What is known of the server (who counts its tokens, how long its
 * context is) is asked once, when it is first needed, and kept: a sweep makes many datasets. For
 * one thread.
 */
public final class Datasets {
  /** What {@link DatasetOptions#name} may be. */
  public static final List<String> NAMES = List.of("random", "chat", "agent", "file", "replay");

  private final Server server;
  private final String model;
  private final DatasetLimits limits;
  private @Nullable TokenizerSearch counter;
  private @Nullable OptionalInt context;

  /**
   * @param server the one under test, or what counts as it does
   * @param model as the server knows it
   */
  public Datasets(Server server, String model, DatasetLimits limits) {
    this.server = server;
    this.model = model;
    this.limits = limits;
  }

  /**
   * The dataset.
   *
   * @throws DatasetRefused where the options can't be meant, or there is no such dataset to be had
   */
  public Dataset make(DatasetOptions options) throws DatasetRefused {
    DatasetChecks.within("--num-prompts", options.count(), 0, limits.promptsMax());
    DatasetChecks.within("--output-len", options.lengths().output(), 0, limits.tokensMax());
    return switch (options.name()) {
      case "random" -> RandomPrompts.make(options, counter(), context(), limits);
      case "chat" -> ChatPrompts.make(options);
      case "agent" -> {
        DatasetChecks.within("--max-context", options.maxContext(), 0, limits.tokensMax());
        int most = options.maxContext() == 0 ? context().orElse(0) : options.maxContext();
        yield AgentPrompts.make(
            options.withMaxContext(most), most == 0 ? Optional.empty() : tokenizer());
      }
      case "file" -> FilePrompts.make(options, this::tokenizer, limits);
      case "replay" -> ReplayPrompts.make(options, new AskedServer(options), limits);
      default ->
          throw DatasetRefused.usage(
              "--dataset: '" + options.name() + "' is not one of " + String.join(", ", NAMES));
    };
  }

  /** Who counts tokens, in words: for a report. */
  public String countedBy() {
    return counter().words();
  }

  /** The tokenizer of the server, where it has one that costs it next to nothing. */
  public Optional<Tokenizer> tokenizer() {
    return counter().tokenizer().filter(Tokenizer::cheap);
  }

  /** Tokens that one request may have, input and output together, where the server says. */
  public OptionalInt context() {
    OptionalInt known = context;
    if (known == null) {
      known = ContextProbe.tokens(server, model, limits);
      context = known;
    }
    return known;
  }

  private TokenizerSearch counter() {
    TokenizerSearch known = counter;
    if (known == null) {
      known = TokenizerSearch.of(server, model, limits);
      counter = known;
    }
    return known;
  }

  /** What a replay has to know, asked when it is needed. */
  private final class AskedServer implements ReplayPrompts.Surroundings {
    private final DatasetOptions options;

    AskedServer(DatasetOptions options) {
      this.options = options;
    }

    @Override
    public TokenizerSearch counter() {
      return Datasets.this.counter();
    }

    @Override
    public OptionalInt context() {
      return Datasets.this.context();
    }

    @Override
    public int templateTokens() {
      return TokenizerSearch.templateTokens(server, model, limits);
    }

    @Override
    public String usageLog() throws DatasetRefused {
      String path = "/api/usage/log?limit=" + limits.promptsMax();
      // The log has the end of each request: what came since then ended since then.
      path +=
          options.replayed().since().map(from -> "&since=" + encoded(from.toString())).orElse("");
      path += options.replayed().onlyModel().map(name -> "&model=" + encoded(name)).orElse("");
      path += options.replayed().onlyKey().map(name -> "&key=" + encoded(name)).orElse("");
      try {
        Server.Reply reply = server.get(path, limits.generateTime());
        if (reply.ok()) {
          return reply.body();
        }
        throw DatasetRefused.failed(
            server.url()
                + " gives no usage log ("
                + reply.trouble()
                + "); if it is no hub, name a log with --dataset-path, made by 'flotilla get usage"
                + " -o jsonl'");
      } catch (IOException e) {
        throw DatasetRefused.failed(
            "the usage log of " + server.url() + " can't be read: " + e.getMessage(), e);
      }
    }

    private String encoded(String name) {
      return URLEncoder.encode(name, UTF_8);
    }
  }
}
