package dev.flotilla.hub.gateway;

import dev.flotilla.engine.model.KvType;
import dev.flotilla.engine.serve.ServeLimits;
import dev.flotilla.engine.serve.ServeSettings;
import dev.flotilla.engine.start.Budget;
import dev.flotilla.engine.start.RunningEngine;
import dev.flotilla.engine.start.StartOptions;
import dev.flotilla.engine.start.StartRefused;
import dev.flotilla.testkit.real.ChatTemplate;
import dev.flotilla.testkit.real.SmallModel;
import dev.flotilla.testkit.real.Tape;
import dev.flotilla.testkit.scripted.ScriptedEngine;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.OptionalInt;

/** The built-in engine in this process, with a template of ours. */
public final class BuiltinServer implements AutoCloseable {
  /** The model's name. */
  public static final String MODEL = Sameness.OWN_NAME;

  private final RunningEngine running;
  private final ScriptedEngine engine;

  private BuiltinServer(RunningEngine running, ScriptedEngine engine) {
    this.running = running;
    this.engine = engine;
  }

  /** With a template that knows tools. */
  public static BuiltinServer start() {
    return start(ChatTemplate.TOOLS);
  }

  /** With a template that opens a thought. */
  static BuiltinServer thinking() {
    return start(ChatTemplate.THINK);
  }

  private static BuiltinServer start(ChatTemplate template) {
    StartOptions options =
        new StartOptions(
            SmallModel.gguf(),
            MODEL,
            Optional.of(template.file()),
            OptionalInt.of(Sameness.CONTEXT),
            2,
            OptionalInt.of(1),
            Budget.of(4L << 30),
            KvType.F16,
            new ServeSettings(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                "",
                ServeSettings.Reasoning.REASONING_CONTENT,
                "",
                ServeLimits.DEFAULT),
            "test");
    try {
      RunningEngine running = RunningEngine.start(options, _ -> {});
      return new BuiltinServer(running, Tape.empty().recording(running.port()));
    } catch (StartRefused refused) {
      throw new AssertionError(refused);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** As the hub's tests have engines: it hands each request on. */
  public ScriptedEngine engine() {
    return engine;
  }

  /** Its own port, with nothing between. */
  int port() {
    return running.port();
  }

  @Override
  public void close() {
    engine.close();
    running.close();
  }
}
