package dev.flotilla.agent.engine;

import dev.flotilla.agent.node.BoundedProcess;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The built-in engine as a program: this process's own Java and class path, with the options of the
 * JVM that the engine wants. It is there wherever the whole of flotilla is.
 *
 * @param java the program
 * @param classPath absolute
 * @param cache the AOT cache that the build made for the engine
 * @param version flotilla's
 */
public record BuiltinProgram(Path java, String classPath, Optional<Path> cache, String version) {
  private static final String MAIN = "dev.flotilla.cli.Main";
  private static final Duration ANSWER_WITHIN = Duration.ofSeconds(30);
  private static final String OPTIONS = "builtin.options";

  /** The one of this process; empty where its class path has no engine. */
  public static Optional<BuiltinProgram> ofThisProcess() {
    ClassLoader loader = BuiltinProgram.class.getClassLoader();
    boolean there = loader != null && loader.getResource(MAIN.replace('.', '/') + ".class") != null;
    if (!there) {
      return Optional.empty();
    }
    List<Path> entries =
        Arrays.stream(System.getProperty("java.class.path", "").split(File.pathSeparator, -1))
            .filter(entry -> !entry.isEmpty())
            .map(entry -> Path.of(entry).toAbsolutePath().normalize())
            .toList();
    String version = BuiltinProgram.class.getPackage().getImplementationVersion();
    return Optional.of(
        new BuiltinProgram(
            Path.of(System.getProperty("java.home"), "bin", "java"),
            entries.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator)),
            cache(entries),
            version == null ? "" : version));
  }

  /** A cache is of use only with the one jar that it was made with. */
  private static Optional<Path> cache(List<Path> entries) {
    Path folder = entries.size() == 1 ? entries.getFirst().getParent() : null;
    return Optional.ofNullable(folder)
        .map(lib -> lib.resolveSibling("engine.aot"))
        .filter(Files::exists);
  }

  /**
   * The words up to the command's name.
   *
   * @param heapBytes the fixed size of the heap
   */
  List<String> words(long heapBytes) {
    List<String> words = new ArrayList<>();
    words.add(java.toString());
    words.addAll(options());
    String heap = (heapBytes >> 20) + "m";
    words.add("-Xms" + heap);
    words.add("-Xmx" + heap);
    cache.ifPresent(
        file -> words.addAll(List.of("-XX:AOTCache=" + file, "-Xlog:aot*=off", "-Xlog:cds*=off")));
    words.addAll(List.of("-cp", classPath, MAIN));
    return words;
  }

  /** Which kernels it computes with on this machine, in words; empty where it can't be started. */
  public Optional<String> kernels() {
    List<String> command = words(32L << 20);
    command.addAll(List.of("serve", "--kernels"));
    try {
      return BoundedProcess.run(command, ANSWER_WITHIN)
          .filter(finished -> finished.exitCode() == 0)
          .map(finished -> finished.output().strip());
    } catch (IOException e) {
      return Optional.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }

  /** The options that the launcher gives to java too, but for the heap's size. */
  private static List<String> options() {
    try (InputStream in = BuiltinProgram.class.getResourceAsStream(OPTIONS)) {
      if (in == null) {
        throw new IllegalStateException("the agent's jar has no " + OPTIONS);
      }
      return new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))
          .lines()
          .filter(line -> line.startsWith("-") && !line.startsWith("-Xm"))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
