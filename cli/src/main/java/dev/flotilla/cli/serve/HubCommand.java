package dev.flotilla.cli.serve;

import dev.flotilla.cli.home.HomeLock;
import dev.flotilla.cli.home.HomeOptions;
import dev.flotilla.cli.output.Failure;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.hub.Hub;
import dev.flotilla.hub.HubConfig;
import dev.flotilla.hub.HubRefused;
import dev.flotilla.hub.gateway.HubListener;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code flotilla hub}: the hub alone; agents join it from other machines, or from this one. */
@Command(
    name = "hub",
    description = "Runs the hub alone: the one address that clients call and agents dial.",
    footer = {
      "%nExamples:",
      "  flotilla hub                                        this machine alone may call it",
      "  flotilla keys create --admin me --home ~/.flotilla  a key, then others may:",
      "  flotilla hub --listen 0.0.0.0:8484 --tls-cert hub.pem --tls-key hub.key",
      "%nThen 'flotilla tokens create' here, and 'flotilla agent' on each machine.",
    })
public final class HubCommand implements Callable<Integer> {
  private final Shell shell;
  @Mixin private final HomeOptions home = new HomeOptions();
  @Mixin private final ListenOptions listen = new ListenOptions();

  public HubCommand(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() throws InterruptedException {
    Path folder = home.home(shell);
    HubConfig config = listen.config(folder, shell, false);
    StopSignal signal = StopSignal.listenTwice();
    try (HomeLock lock = HomeLock.take(folder, "hub", "flotilla hub")) {
      Path log = Logs.start(folder, "hub", home.verbose());
      try (Hub hub = Hub.start(config)) {
        lock.listensAt(hub.address().toString());
        greet(hub, log);
        signal.await();
        shell.err().println(StopSignal.stopping(HubListener.LIMITS.stopTime()));
      } catch (HubRefused e) {
        throw new Failure(String.valueOf(e.getMessage()), e);
      }
    } finally {
      Logs.stop();
      signal.ended();
    }
    return 0;
  }

  private void greet(Hub hub, Path log) {
    shell.err().println("Hub at " + hub.address() + "  (dashboard there; log in " + log + ")");
    hub.status().notices().forEach(notice -> shell.err().println("  note: " + notice.message()));
    if (hub.revisions().inForce().number() == 0) {
      shell.err().println("  Nothing is served yet: flotilla apply fleet.yaml");
    }
    shell.err().println("  Add a machine: flotilla tokens create   (here), then there:");
    shell
        .err()
        .println(
            "                 flotilla agent --hub " + calledFromOutside(hub) + " --token TOKEN");
    shell.err().flush();
  }

  /** The address with the machine's name in it, where others can call it. */
  private String calledFromOutside(Hub hub) {
    String machine = shell.machineName();
    String address = hub.address().toString();
    return listen.beyondThisMachine() && !machine.isEmpty()
        ? address.replace("127.0.0.1", machine)
        : address;
  }
}
