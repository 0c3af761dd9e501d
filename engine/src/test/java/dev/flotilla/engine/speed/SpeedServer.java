package dev.flotilla.engine.speed;

import dev.flotilla.engine.Engine;
import dev.flotilla.engine.kernel.Workers;
import dev.flotilla.engine.model.KvLayout;
import dev.flotilla.engine.model.KvType;
import dev.flotilla.engine.model.LoadedModel;
import dev.flotilla.engine.model.Transformer;
import dev.flotilla.engine.schedule.ScheduleLimits;
import dev.flotilla.engine.serve.EngineServer;
import dev.flotilla.engine.serve.ServeSettings;
import dev.flotilla.engine.serve.ServedModel;
import dev.flotilla.engine.serve.ServerLimits;
import dev.flotilla.gguf.GgufHeader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Map;
import java.util.Random;

/** This engine's server in a process of its own, until its standard input ends. */
final class SpeedServer {
  private SpeedServer() {}

  /** Arguments: the model's file, threads, tokens of the context, tokens of the cache. */
  public static void main(String[] args) throws Exception {
    int threads = Integer.parseInt(args[1]);
    int context = Integer.parseInt(args[2]);
    int blocks = KvLayout.blocksFor(Integer.parseInt(args[3]));
    GgufHeader header = GgufHeader.read(Path.of(args[0]));
    ScheduleLimits limits = ScheduleLimits.DEFAULT;
    try (Workers workers = new Workers(threads);
        LoadedModel model = LoadedModel.load(header, workers);
        Transformer runner = new Transformer(model, KvType.F16, blocks, limits.rowsMax(), workers);
        Engine engine = new Engine(runner, limits, context, System::nanoTime).start()) {
      ServeSettings settings =
          new ServeSettings(
              new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
              "",
              ServeSettings.Reasoning.REASONING_CONTENT,
              ServerLimits.DEFAULT);
      EngineServer server =
          new EngineServer(
                  engine,
                  ServedModel.of("small", header),
                  settings,
                  Map.of(),
                  Clock.systemUTC(),
                  new Random())
              .start();
      System.out.println(server.port());
      System.in.transferTo(OutputStream.nullOutputStream());
      server.close();
    }
  }
}
