package dev.flotilla.engine.speed;

import dev.flotilla.testkit.RealEngine;
import dev.flotilla.testkit.RealServer;
import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A server that runs, in a process of its own. */
record Target(int port, Closeable server) implements Closeable {
  /** What {@code flotilla serve} starts this engine with, but for the size of the heap. */
  private static final List<String> OPTIONS =
      List.of(
          "--add-modules=jdk.incubator.vector",
          "--enable-native-access=ALL-UNNAMED",
          "-XX:+UseSerialGC",
          "-Xms256m",
          "-Xmx256m",
          "-XX:+UseCompactObjectHeaders",
          "-Djdk.incubator.vector.VECTOR_ACCESS_OOB_CHECK=0");

  /** This engine, with a context of so many tokens and a cache of so many. */
  static Target ours(Path file, int threads, int context, int cache) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(OPTIONS);
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(SpeedServer.class.getName());
    command.add(file.toString());
    command.addAll(List.of(threads + "", context + "", cache + ""));
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    BufferedReader said =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.US_ASCII));
    String port = said.readLine();
    if (port == null) {
      throw new IOException("the engine's server ended before it listened");
    }
    return new Target(
        Integer.parseInt(port),
        () -> {
          process.getOutputStream().close(); // which ends it
          process.onExit().join();
        });
  }

  /** llama-server with so many slots, each with a context of so many tokens. */
  static Target llama(Path file, int threads, int slots, int context) {
    RealServer server =
        RealServer.of(RealEngine.LLAMA_SERVER)
            .model(file)
            .options("--threads", threads + "", "-np", slots + "", "-c", slots * context + "")
            .start();
    return new Target(server.port(), server::close);
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
