package dev.flotilla.engine.speed;

import dev.flotilla.testkit.real.RealEngine;
import dev.flotilla.testkit.real.RealServer;
import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A server that runs, in a process of its own.
 *
 * @param startSeconds from the command to the server's readiness
 */
record Target(int port, double startSeconds, Closeable server) implements Closeable {
  private static final Pattern READY =
      Pattern.compile("ready after .* at http://127\\.0\\.0\\.1:(\\d+)/v1");
  private static final long END_SECONDS = 20;

  /**
   * This engine, as a user starts it: {@code flotilla serve}, from the launcher that the property
   * {@code flotilla.root} leads to and that is built. It is ready when it says so.
   *
   * @param heapBytes of its JVM
   * @param options beside the model, its name and the address
   */
  static Target ours(Path file, long heapBytes, String... options) throws IOException {
    Path launcher = Path.of(System.getProperty("flotilla.root", ".."), "flotilla");
    List<String> command = new ArrayList<>();
    command.addAll(List.of(launcher.toString(), "serve", file.toString(), "--name", "small"));
    command.addAll(List.of("--listen", "127.0.0.1:0"));
    command.addAll(List.of(options));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("FLOTILLA_NO_BUILD", "1");
    builder
        .environment()
        .put("FLOTILLA_JAVA_OPTS", "-Xms%1$dm -Xmx%1$dm".formatted(heapBytes >> 20));
    long start = System.nanoTime();
    Process process = builder.start();
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
    BufferedReader said =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    for (String line = said.readLine(); line != null; line = said.readLine()) {
      System.err.println(line);
      Matcher ready = READY.matcher(line);
      if (ready.find()) {
        double seconds = (System.nanoTime() - start) / 1e9;
        Thread.startVirtualThread(() -> tell(said));
        return new Target(Integer.parseInt(ready.group(1)), seconds, () -> end(process));
      }
    }
    throw new IOException("the engine ended before it was ready");
  }

  private static void tell(BufferedReader said) {
    try {
      for (String line = said.readLine(); line != null; line = said.readLine()) {
        System.err.println(line);
      }
    } catch (IOException ended) {
      System.err.println("(the engine has ended)");
    }
  }

  private static void end(Process process) {
    process.destroy();
    try {
      if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }

  /**
   * llama-server with so many slots, each with a context of so many tokens. It is ready when it has
   * answered, which is looked at every 0.2 s.
   */
  static Target llama(Path file, int threads, int slots, int context) {
    long start = System.nanoTime();
    RealServer server =
        RealServer.of(RealEngine.LLAMA_SERVER)
            .model(file)
            .options("--threads", threads + "", "-np", slots + "", "-c", slots * context + "")
            .start();
    return new Target(server.port(), (System.nanoTime() - start) / 1e9, server::close);
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
