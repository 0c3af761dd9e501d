package dev.flotilla.engine.serve;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.flotilla.engine.Engine;
import dev.flotilla.engine.kernel.Workers;
import dev.flotilla.engine.model.KvType;
import dev.flotilla.engine.model.LoadedModel;
import dev.flotilla.engine.model.ModelOutline;
import dev.flotilla.engine.model.Transformer;
import dev.flotilla.engine.schedule.ScheduleLimits;
import dev.flotilla.gguf.GgufHeader;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * A server with a real model in a process of its own, so that its memory can be looked at. It ends
 * when its standard input does, and so with the test's process.
 */
final class ServedAlone implements AutoCloseable {
  static final String NAME = "small";

  /** So few blocks that sequences give way to others. */
  static final int BLOCKS = 250;

  private static final int CONTEXT = 2048;
  private static final int ROWS = 128;

  private final Process process;
  private final int port;

  private ServedAlone(Process process, int port) {
    this.process = process;
    this.port = port;
  }

  /** Starts it, and returns when it listens. */
  static ServedAlone start(Path model) throws IOException {
    Process process =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-Xms400m",
                    "-Xmx400m",
                    "-XX:+AlwaysPreTouch",
                    "--add-modules",
                    "jdk.incubator.vector",
                    "--enable-native-access=ALL-UNNAMED",
                    "-cp",
                    System.getProperty("java.class.path"),
                    ServedAlone.class.getName(),
                    model.toString()))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    BufferedReader said =
        new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8));
    String line = said.readLine();
    if (line == null) {
      throw new IOException("the server ended before it listened");
    }
    return new ServedAlone(process, Integer.parseInt(line));
  }

  int port() {
    return port;
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** Its resident memory in bytes, 0 where the system doesn't say. */
  long residentBytes() {
    try {
      return Files.readAllLines(Path.of("/proc", Long.toString(process.pid()), "status")).stream()
          .filter(line -> line.startsWith("VmRSS:"))
          .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
          .findFirst()
          .orElse(0);
    } catch (IOException unknown) {
      return 0;
    }
  }

  @Override
  public void close() {
    process.destroy();
  }

  /** The server's process: prints its port. */
  public static void main(String[] arguments) throws Exception {
    GgufHeader header = GgufHeader.read(Path.of(arguments[0]));
    ServeSettings settings =
        new ServeSettings(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            "",
            ServeSettings.Reasoning.REASONING_CONTENT,
            "",
            ServeLimits.DEFAULT);
    ScheduleLimits limits = new ScheduleLimits(ROWS, 8, 32);
    try (Workers workers = new Workers(2);
        LoadedModel model = LoadedModel.load(ModelOutline.of(header), workers);
        Transformer runner = new Transformer(model, KvType.F16, BLOCKS, ROWS, workers);
        Engine engine = new Engine(runner, limits, CONTEXT, System::nanoTime).start();
        EngineServer server =
            new EngineServer(
                    engine,
                    ServedModel.of(NAME, header),
                    settings,
                    Map.of(),
                    Clock.systemUTC(),
                    new Random(1))
                .start()) {
      System.out.println(server.port());
      while (System.in.read() >= 0) {
        // until the test ends
      }
    }
  }
}
