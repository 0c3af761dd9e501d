package dev.flotilla.cli.serve;

import dev.flotilla.cli.Version;
import dev.flotilla.cli.output.Failure;
import dev.flotilla.cli.output.NamedFile;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.cli.output.WholeNumber;
import dev.flotilla.cli.output.WrongUsage;
import dev.flotilla.engine.kernel.Compute;
import dev.flotilla.engine.model.KvType;
import dev.flotilla.engine.serve.ServeLimits;
import dev.flotilla.engine.serve.ServeSettings;
import dev.flotilla.engine.start.Budget;
import dev.flotilla.engine.start.HeapTooSmall;
import dev.flotilla.engine.start.RunningEngine;
import dev.flotilla.engine.start.StartOptions;
import dev.flotilla.engine.start.StartRefused;
import dev.flotilla.wire.text.Names;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/**
 * {@code flotilla serve}: the built-in engine, an OpenAI server of one model, in this process; also
 * what an agent starts for a worker of the engine {@code builtin}.
 *
 * <p>The process wants options of the JVM that no other command has, which the launcher and the
 * agent give it: the vector module, and a heap that is fixed and touched.
 */
@Command(
    name = "serve",
    description = "Serves one model with the built-in engine: an OpenAI server, no hub.",
    footer = {
      "%nA key: in the variable " + EngineKey.VARIABLE + ", or in a file of mode 600.",
      "%nExamples:",
      "  flotilla serve ~/models/Qwen3-4B-Q4_K_M.gguf",
      "  flotilla serve model.gguf --context 16384 --slots 4 --kv-type q8_0",
      "  flotilla serve model.gguf --memory 6G --listen 0.0.0.0:8485 --api-key-file key",
    })
public final class ServeCommand implements Callable<Integer> {
  private static final int PORT_DEFAULT = 8485;
  private static final String VECTORS = "jdk.incubator.vector";

  private final Shell shell;

  @Spec private @Nullable CommandSpec spec;

  @Parameters(
      paramLabel = "MODEL",
      arity = "0..1",
      description = "A GGUF file; of a split one the first part.")
  private @Nullable Path model;

  @Option(
      names = "--listen",
      paramLabel = "HOST:PORT",
      converter = Listen.class,
      description = "Where to listen (default: 127.0.0.1:8485, this machine alone).")
  private @Nullable InetSocketAddress listen;

  @Option(
      names = "--api-key-file",
      paramLabel = "FILE",
      description = "The key that clients have to show, in a file that you alone can read.")
  private @Nullable Path keyFile;

  @Option(
      names = "--allow-no-keys",
      description = "Listens beyond this machine without a key: whoever reaches it may use it.")
  private boolean allowNoKeys;

  @Option(
      names = {"--name", "--alias"},
      paramLabel = "NAME",
      description = "What clients call the model (default: after the file).")
  private @Nullable String name;

  @Option(
      names = "--context",
      paramLabel = "N",
      converter = Context.class,
      description =
          "Tokens of one request, prompt and answer together (default: the model's, at most 4096).")
  private @Nullable Integer context;

  @Option(
      names = "--slots",
      paramLabel = "N",
      converter = Slots.class,
      description = "Requests that run at once; more wait (default: 8).")
  private int slots = StartOptions.SLOTS_DEFAULT;

  @Option(
      names = "--threads",
      paramLabel = "N",
      converter = Threads.class,
      description = "Threads that compute (default: one on each core).")
  private @Nullable Integer threads;

  @Option(
      names = "--memory",
      paramLabel = "SIZE",
      converter = ByteSize.class,
      description = "All memory that the process may take, such as 6G.")
  private @Nullable Long memory;

  @Option(
      names = "--memory-fraction",
      paramLabel = "F",
      description = "The same as a part of what is free now (default: 0.75).")
  private @Nullable Double fraction;

  @Option(
      names = "--kv-type",
      paramLabel = "TYPE",
      converter = CacheType.class,
      description =
          "How keys and values are stored: f16, or q8_0, which takes half (default: f16).")
  private KvType kvType = KvType.F16;

  @Option(
      names = "--chat-template",
      paramLabel = "FILE",
      description = "A Jinja chat template in place of the model's own.")
  private @Nullable Path template;

  @Option(
      names = "--reasoning-format",
      paramLabel = "WHERE",
      converter = Place.class,
      description =
          "Where the model's thoughts are: inline, reasoning_content, or off (default:"
              + " reasoning_content).")
  private ServeSettings.Reasoning reasoning = ServeSettings.Reasoning.REASONING_CONTENT;

  @Option(
      names = "--kernels",
      description = "Says which kernels this machine's processor gets, and ends.")
  private boolean kernels;

  @Option(names = "--verbose", description = "Details in the log.")
  private boolean verbose;

  public ServeCommand(Shell shell) {
    this.shell = shell;
  }

  static final class Listen extends ListenAddress {
    Listen() {
      super(PORT_DEFAULT);
    }
  }

  static final class Context extends WholeNumber {
    Context() {
      super(2, Integer.MAX_VALUE);
    }
  }

  static final class Slots extends WholeNumber {
    Slots() {
      super(1, StartOptions.SLOTS_MAX);
    }
  }

  static final class Threads extends WholeNumber {
    Threads() {
      super(1, StartOptions.THREADS_MAX);
    }
  }

  static final class CacheType implements ITypeConverter<KvType> {
    @Override
    public KvType convert(String text) {
      return Arrays.stream(KvType.values())
          .filter(type -> type.word().equals(text.toLowerCase(Locale.ROOT)))
          .findFirst()
          .orElseThrow(() -> new TypeConversionException("it is f16 or q8_0"));
    }
  }

  static final class Place implements ITypeConverter<ServeSettings.Reasoning> {
    @Override
    public ServeSettings.Reasoning convert(String text) {
      return Arrays.stream(ServeSettings.Reasoning.values())
          .filter(place -> place.word().equals(text))
          .findFirst()
          .orElseThrow(() ->
              new TypeConversionException(
                  Arrays.stream(ServeSettings.Reasoning.values())
                      .map(ServeSettings.Reasoning::word)
                      .collect(Collectors.joining(", ", "it is one of ", ""))));
    }
  }

  @Override
  public Integer call() throws InterruptedException {
    if (kernels) {
      wantVectors();
      shell.out().println(Compute.available());
      return 0;
    }
    StartOptions options = options();
    wantVectors();
    StopSignal signal = StopSignal.listenTwice();
    Logs.console(verbose);
    try (RunningEngine engine = RunningEngine.start(options, this::say)) {
      greet(engine, options);
      signal.await();
      say(StopSignal.stopping(ServeLimits.DEFAULT.server().stopTime()));
    } catch (HeapTooSmall e) {
      enlarge(e);
    } catch (StartRefused | IOException e) {
      throw new Failure(String.valueOf(e.getMessage()), e);
    } finally {
      Logs.stop();
      signal.ended();
    }
    return 0;
  }

  /** Goes on as a process with a larger heap; where that can't be, says what to do. */
  private void enlarge(HeapTooSmall small) {
    if (!LargerHeap.isAllowed(shell) || spec == null) {
      throw new Failure(String.valueOf(small.getMessage()), small);
    }
    say(
        "the model wants a heap of %d MiB: starting once more with that"
            .formatted(small.neededBytes() >> 20));
    try {
      LargerHeap.of(small.neededBytes())
          .start(spec.root().commandLine().getParseResult().originalArgs());
    } catch (IllegalStateException refused) {
      throw new Failure(small.getMessage() + " (" + refused.getMessage() + ")", refused);
    }
  }

  private static void wantVectors() {
    if (ModuleLayer.boot().findModule(VECTORS).isEmpty()) {
      throw new Failure(
          "this JVM was started without the module "
              + VECTORS
              + ": start the engine with the launcher, './flotilla serve'");
    }
  }

  private StartOptions options() {
    if (model == null) {
      throw new WrongUsage("say what to serve: a GGUF file");
    }
    InetSocketAddress address =
        listen != null ? listen : new Listen().convert("127.0.0.1:" + PORT_DEFAULT);
    String key = EngineKey.read(keyFile, shell);
    if (!address.getAddress().isLoopbackAddress() && key.isEmpty() && !allowNoKeys) {
      throw new WrongUsage(
          "--listen: beyond this machine a key is needed, in "
              + EngineKey.VARIABLE
              + " or --api-key-file; --allow-no-keys lets everybody in");
    }
    String called = name != null ? name : ModelName.of(model.toString());
    Names.modelProblem(called)
        .ifPresent(problem -> {
          throw new WrongUsage("--name: " + problem);
        });
    return new StartOptions(
        NamedFile.readable("MODEL", model),
        called,
        Optional.ofNullable(template).map(file -> NamedFile.readable("--chat-template", file)),
        context != null ? OptionalInt.of(context) : OptionalInt.empty(),
        slots,
        threads != null ? OptionalInt.of(threads) : OptionalInt.empty(),
        budget(),
        kvType,
        new ServeSettings(address, key, reasoning, shell.machineName(), ServeLimits.DEFAULT),
        Version.number());
  }

  private Budget budget() {
    if (memory != null && fraction != null) {
      throw new WrongUsage("--memory and --memory-fraction exclude each other");
    }
    if (memory != null) {
      return Budget.of(memory);
    }
    double part = fraction != null ? fraction : Budget.FRACTION_DEFAULT;
    if (!(part > 0 && part <= 1)) {
      throw new WrongUsage("--memory-fraction: it is over 0 to 1, not " + part);
    }
    return Budget.ofFree(part);
  }

  private void greet(RunningEngine engine, StartOptions options) {
    String address =
        "http://" + options.settings().listen().getAddress().getHostAddress() + ":" + engine.port();
    long since = ManagementFactory.getRuntimeMXBean().getStartTime();
    say(
        "ready after %.1f s: %s at %s/v1, %,d tokens a request"
            .formatted(
                (System.currentTimeMillis() - since) / 1000.0,
                options.name(),
                address,
                engine.context()));
  }

  private void say(String line) {
    shell.err().println("  " + line);
    shell.err().flush();
  }
}
