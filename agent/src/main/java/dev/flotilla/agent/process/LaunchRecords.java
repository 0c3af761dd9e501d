package dev.flotilla.agent.process;

import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * A folder for each launch under {@code HOME/run}, which says what process belongs to it, so that
 * an agent that died without ending its engines is cleaned up after by the next one.
 *
 * <p>A process is ended for a record's sake only if its id and the moment of its start are those of
 * the record, and the agent that wrote it is gone: no stranger is ever hit. An agent that replaced
 * itself by another program has kept its process id, the moment of its start and its children; what
 * tells it from the one before is the word that each run makes up.
 */
final class LaunchRecords {
  private static final System.Logger LOG = System.getLogger(LaunchRecords.class.getName());
  private static final String PREFIX = "launch-";
  private static final String RECORD = "process.properties";

  /** Made up by this run of an agent. */
  private static final String RUN = UUID.randomUUID().toString();

  private final Path run;

  /** Where this home's own engines are, as it is named and as it is. */
  private final List<String> engines;

  LaunchRecords(Path home) {
    this.run = home.resolve("run");
    Path own = home.resolve("engines");
    this.engines = List.of(own + "/", real(own) + "/");
  }

  /**
   * The process of a launch.
   *
   * @param program what was started, for people
   */
  record Started(String worker, String program, int port, long pid) {}

  /**
   * An engine that an agent left behind.
   *
   * @param what what it was, in words
   * @param how what became of the agent, in words
   */
  record Leftover(String worker, String what, String how, ProcessHandle process) {}

  /** The folder of one launch, with an empty {@code config} folder in it. */
  Path create(long generation) throws IOException {
    Path folder = run.resolve(PREFIX + generation);
    Files.createDirectories(folder.resolve("config"));
    return folder;
  }

  /** Notes which process runs for the launch. */
  void write(Path folder, Started started) throws IOException {
    Properties record = new Properties();
    long agent = ProcessHandle.current().pid();
    record.setProperty("worker", started.worker());
    record.setProperty("program", started.program());
    record.setProperty("port", Integer.toString(started.port()));
    record.setProperty("pid", Long.toString(started.pid()));
    record.setProperty("start", ProcessFacts.identity(started.pid()).orElse(""));
    record.setProperty("agent.pid", Long.toString(agent));
    record.setProperty("agent.start", ProcessFacts.identity(agent).orElse(""));
    record.setProperty("agent.run", RUN);
    Path fresh = folder.resolve(RECORD + ".new");
    try (Writer writer = Files.newBufferedWriter(fresh)) {
      record.store(writer, null);
    }
    Files.move(fresh, folder.resolve(RECORD), StandardCopyOption.ATOMIC_MOVE);
  }

  void remove(Path folder) {
    try (Stream<Path> tree = Files.walk(folder)) {
      for (Path file : tree.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      LOG.log(System.Logger.Level.DEBUG, "{0} stays: {1}", folder, e.getMessage());
    }
  }

  /**
   * Engines of agents that are gone; the records of everything that is over are removed. What lost
   * its record is found by the folder that it runs in.
   */
  List<Leftover> leftovers() {
    List<Leftover> leftovers = new ArrayList<>();
    try (DirectoryStream<Path> folders = Files.newDirectoryStream(run, PREFIX + "*")) {
      for (Path folder : folders) {
        Properties record = read(folder);
        if (agentLives(record)) {
          continue;
        }
        lives(record, "pid", "start")
            .map(handle -> leftover(folder, record, handle))
            .ifPresent(leftovers::add);
        remove(folder);
      }
    } catch (IOException e) {
      LOG.log(System.Logger.Level.DEBUG, "{0} holds no launches: {1}", run, e.getMessage());
    }
    return leftovers;
  }

  /**
   * The engine that an agent on this home started, if the process is one that nobody looks after:
   * it runs in the folder of a launch, this run of the agent did not start it, and it is the
   * process of that launch's record, one of its group, or runs one of the programs. A shell that a
   * person opened in such a folder is none of these.
   *
   * @param programs files of engines that may be started here
   */
  Optional<Leftover> judge(ProcessHandle process, Set<String> programs) {
    Path within = real(run);
    Optional<Path> folder =
        ProcessFacts.workingFolder(process.pid())
            .filter(place -> place.startsWith(within))
            .map(place -> run.resolve(within.relativize(place).getName(0)))
            .filter(place -> String.valueOf(place.getFileName()).startsWith(PREFIX));
    if (folder.isEmpty()) {
      return Optional.empty();
    }
    Properties record = read(folder.get());
    if (agentLives(record)) {
      return Optional.empty();
    }
    boolean recorded =
        lives(record, "pid", "start").filter(process::equals).isPresent()
            || record
                .getProperty("pid", "")
                .equals(Long.toString(ProcessFacts.group(process.pid())));
    boolean engine =
        ProcessFacts.commandLine(process.pid()).stream()
            .anyMatch(
                word -> programs.contains(word) || engines.stream().anyMatch(word::startsWith));
    return recorded || engine
        ? Optional.of(leftover(folder.get(), record, process))
        : Optional.empty();
  }

  /** All such processes of this machine. */
  List<Leftover> stale(Set<String> programs) {
    return ProcessHandle.allProcesses()
        .filter(process -> process.pid() != ProcessHandle.current().pid())
        .map(process -> judge(process, programs))
        .flatMap(Optional::stream)
        .toList();
  }

  private static Leftover leftover(Path folder, Properties record, ProcessHandle process) {
    List<String> words = ProcessFacts.commandLine(process.pid());
    String program = record.getProperty("program", words.isEmpty() ? "engine" : words.getFirst());
    String launch = String.valueOf(folder.getFileName()).substring(PREFIX.length());
    String worker = record.getProperty("worker", "a worker");
    String port = record.getProperty("port", "");
    String since =
        process
            .info()
            .startInstant()
            .map(at -> ", running since " + at.truncatedTo(ChronoUnit.SECONDS))
            .orElse("");
    String what =
        "%s, launch %s of %s%s%s"
            .formatted(program, launch, worker, port.isEmpty() ? "" : ", port " + port, since);
    // Its agent does not live as such, so a process that is still there is what became of it.
    boolean replaced = lives(record, "agent.pid", "agent.start").isPresent();
    String how = replaced ? "an agent that replaced itself" : "an agent that died";
    return new Leftover(record.getProperty("worker", "node"), what, how, process);
  }

  private static Path real(Path folder) {
    try {
      return folder.toRealPath();
    } catch (IOException e) {
      return folder;
    }
  }

  /** Whether it is the record of an agent that runs now, and not of the one that it was before. */
  private static boolean agentLives(Properties record) {
    Optional<ProcessHandle> agent = lives(record, "agent.pid", "agent.start");
    return agent.isPresent()
        && (agent.get().pid() != ProcessHandle.current().pid()
            || RUN.equals(record.getProperty("agent.run")));
  }

  private static Properties read(Path folder) {
    Properties record = new Properties();
    try (Reader reader = Files.newBufferedReader(folder.resolve(RECORD))) {
      record.load(reader);
    } catch (IOException | IllegalArgumentException e) {
      LOG.log(System.Logger.Level.DEBUG, "{0} has no record: {1}", folder, e.getMessage());
    }
    return record;
  }

  private static Optional<ProcessHandle> lives(Properties record, String pid, String start) {
    String number = record.getProperty(pid, "");
    String identity = record.getProperty(start, "");
    if (!number.matches("\\d{1,18}") || identity.isEmpty()) {
      return Optional.empty();
    }
    long id = Long.parseLong(number);
    return ProcessFacts.identity(id).filter(identity::equals).flatMap(same -> ProcessHandle.of(id));
  }
}
