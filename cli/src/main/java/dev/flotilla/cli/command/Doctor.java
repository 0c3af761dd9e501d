package dev.flotilla.cli.command;

import dev.flotilla.agent.node.NodeProbe;
import dev.flotilla.cli.client.HubClient;
import dev.flotilla.cli.client.HubOptions;
import dev.flotilla.cli.command.Finding.Verdict;
import dev.flotilla.cli.output.Failure;
import dev.flotilla.cli.output.Format;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.cli.output.Style;
import dev.flotilla.cli.output.Text;
import dev.flotilla.wire.fleet.NodeFacts;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code flotilla doctor}: what this machine has, what is missing, and how to get it. */
@Command(
    name = "doctor",
    description = "Looks at this machine: what is there, what is missing, and how to get it.",
    footer = {
      "%nExits with 1 where something keeps 'flotilla up' from working.",
      "%nExample:",
      "  flotilla doctor -o json",
    })
public final class Doctor implements Callable<Integer> {
  private static final long DISK_NEEDED_BYTES = 2L << 30;
  private static final long MEMORY_NEEDED_BYTES = 1L << 30;

  private final Shell shell;
  private final Function<Path, List<NodeFacts.EngineFacts>> engines;

  @Mixin private final HubOptions hub = new HubOptions();

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FORMAT",
      converter = Format.Converter.class,
      description = "table, json or yaml (default: table).")
  private Format format = Format.TABLE;

  /**
   * @param engines finds the engines that can be started without installing anything, given the
   *     state folder
   */
  public Doctor(Shell shell, Function<Path, List<NodeFacts.EngineFacts>> engines) {
    this.shell = shell;
    this.engines = engines;
  }

  @Override
  public Integer call() {
    NodeFacts facts = new NodeProbe(() -> engines.apply(hub.home(shell))).probe();
    List<Finding> findings = new ArrayList<>();
    findings.add(java());
    findings.add(machine(facts));
    findings.add(memory(facts));
    findings.add(accelerators(facts));
    Finding python = Finding.python();
    findings.addAll(engines(facts, python.verdict() == Verdict.GOOD));
    findings.add(python);
    findings.add(stateFolder(hub.home(shell)));
    findings.add(disk(hub.home(shell)));
    findings.addAll(hubAndPort());
    print(findings);
    boolean fatal = findings.stream().anyMatch(finding -> finding.verdict() == Verdict.MISSING);
    return fatal ? 1 : 0;
  }

  private static Finding java() {
    return new Finding(
        "Java", Verdict.GOOD, Runtime.version() + " in " + System.getProperty("java.home"), "");
  }

  private static Finding machine(NodeFacts facts) {
    String system =
        facts.host()
            + ", "
            + facts.os()
            + " "
            + facts.osVersion()
            + (facts.wsl() ? " in WSL" : "")
            + ", "
            + facts.arch()
            + ", "
            + facts.cpu()
            + ", "
            + facts.physicalCores()
            + " cores";
    return new Finding("Machine", Verdict.GOOD, system, "");
  }

  private static Finding memory(NodeFacts facts) {
    String found =
        Text.bytes(facts.memoryAvailableBytes())
            + " free of "
            + Text.bytes(facts.memoryTotalBytes());
    return facts.memoryAvailableBytes() >= MEMORY_NEEDED_BYTES
        ? new Finding("Memory", Verdict.GOOD, found, "")
        : new Finding(
            "Memory",
            Verdict.CARE,
            found,
            "even a small model needs about 1 GiB: end some programs");
  }

  private static Finding accelerators(NodeFacts facts) {
    if (facts.accelerators().isEmpty()) {
      return new Finding(
          "Accelerators", Verdict.GOOD, "none found: engines run on the processor", "");
    }
    String found =
        facts.accelerators().stream()
            .map(each ->
                each.name()
                    + (each.memoryTotalBytes() > 0
                        ? " (" + Text.bytes(each.memoryTotalBytes()) + ")"
                        : ""))
            .collect(Collectors.joining(", "));
    return new Finding("Accelerators", Verdict.GOOD, found, "");
  }

  private static List<Finding> engines(NodeFacts facts, boolean python) {
    if (!facts.engines().isEmpty()) {
      return facts.engines().stream()
          .map(each ->
              new Finding(
                  "Engine",
                  Verdict.GOOD,
                  each.engine()
                      + (each.version().isEmpty() ? "" : " " + each.version())
                      + " at "
                      + each.path(),
                  ""))
          .toList();
    }
    return List.of(
        python
            ? new Finding(
                "Engine",
                Verdict.CARE,
                "no llama-server found",
                "nothing to do: 'flotilla up' installs one into its own folder; or pass your own"
                    + " with --engine-path")
            : new Finding(
                "Engine",
                Verdict.MISSING,
                "no llama-server found, and no Python to install one with",
                "install llama.cpp (macOS: brew install llama.cpp), or Python 3.10 or newer"));
  }

  private static Finding stateFolder(Path folder) {
    Path existing = folder;
    while (existing.getParent() != null && !Files.exists(existing)) {
      existing = existing.getParent();
    }
    if (!Files.isDirectory(existing) || !Files.isWritable(existing)) {
      return new Finding(
          "State folder",
          Verdict.MISSING,
          folder + " can't be written",
          "name another one with --home DIR, or FLOTILLA_HOME");
    }
    return new Finding("State folder", Verdict.GOOD, folder.toString(), "");
  }

  private static Finding disk(Path folder) {
    Path existing = folder;
    while (existing.getParent() != null && !Files.exists(existing)) {
      existing = existing.getParent();
    }
    try {
      long free = Files.getFileStore(existing).getUsableSpace();
      return free >= DISK_NEEDED_BYTES
          ? new Finding("Disk", Verdict.GOOD, Text.bytes(free) + " free", "")
          : new Finding(
              "Disk",
              Verdict.CARE,
              Text.bytes(free) + " free at " + existing,
              "models take gigabytes: make room, or name another folder with --home DIR");
    } catch (IOException e) {
      return new Finding(
          "Disk", Verdict.CARE, "can't be read: " + e.getMessage(), "look at " + existing);
    }
  }

  /** The hub where there is one, with what it says of itself; else whether its port is free. */
  private List<Finding> hubAndPort() {
    HubClient client = hub.clientAt(hub.addressOrUsual(shell), shell);
    List<Finding> findings = new ArrayList<>();
    try {
      JsonNode status = client.get("/api/status");
      findings.add(
          new Finding(
              "Hub",
              status.path("ready").asBoolean() ? Verdict.GOOD : Verdict.CARE,
              "answers at "
                  + client.address()
                  + (status.path("ready").asBoolean() ? "" : ", and can serve nothing yet"),
              status.path("ready").asBoolean() ? "" : "'flotilla get workers' says why"));
      for (JsonNode notice : status.path("notices")) {
        findings.add(
            new Finding("Hub", Verdict.CARE, notice.path("message").asString(""), "as it says"));
      }
    } catch (Failure e) {
      findings.add(e.isAboutKey() ? locked(client, e) : portOrHub(client, e));
    }
    return findings;
  }

  private static Finding locked(HubClient client, Failure failure) {
    return new Finding(
        "Hub",
        Verdict.CARE,
        "answers at " + client.address() + ", and says: " + failure.getMessage(),
        "look into it with an administrator's key in FLOTILLA_KEY");
  }

  private static Finding portOrHub(HubClient client, Failure failure) {
    String host = client.address().getHost();
    boolean here = host.equals("127.0.0.1") || host.equals("localhost");
    int port = client.address().getPort();
    if (!here || port < 0) {
      return new Finding(
          "Hub", Verdict.CARE, String.valueOf(failure.getMessage()), "start it there");
    }
    try (ServerSocket socket = new ServerSocket()) {
      socket.bind(new InetSocketAddress(host, port));
      return new Finding("Port", Verdict.GOOD, port + " is free; no hub runs here", "");
    } catch (IOException e) {
      return new Finding(
          "Port",
          Verdict.CARE,
          port + " is in use, and not by a hub that answers: " + failure.getMessage(),
          "end that program, or take another port: flotilla up --listen 127.0.0.1:8485");
    }
  }

  private void print(List<Finding> findings) {
    if (format.forPrograms()) {
      var list = JsonMapper.shared().createArrayNode();
      for (Finding finding : findings) {
        list.addObject()
            .put("what", finding.what())
            .put("verdict", finding.verdict().word())
            .put("found", finding.found())
            .put("remedy", finding.remedy());
      }
      format.printDocument(list, shell);
      return;
    }
    for (Finding finding : findings) {
      Style style =
          switch (finding.verdict()) {
            case GOOD -> Style.GOOD;
            case CARE -> Style.CARE;
            case MISSING -> Style.BAD;
          };
      shell
          .out()
          .println(
              style.apply(
                      String.format(Locale.ROOT, "%-8s", finding.verdict().word()), shell.colours())
                  + String.format(Locale.ROOT, "%-13s ", finding.what())
                  + Text.printable(finding.found()));
      if (!finding.remedy().isEmpty()) {
        shell.out().println(" ".repeat(22) + "→ " + Text.printable(finding.remedy()));
      }
    }
    shell.out().flush();
  }
}
