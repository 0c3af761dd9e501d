package dev.flotilla.agent.process;

import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.stream.Stream;

/**
 * A folder for each launch under {@code HOME/run}, which says what process belongs to it, so that
 * an agent that died without ending its engines is cleaned up after by the next one.
 *
 * <p>A process is ended for a record's sake only if its id and the moment of its start are those of
 * the record, and the agent that wrote it is gone: no stranger is ever hit.
 */
final class LaunchRecords {
  private static final System.Logger LOG = System.getLogger(LaunchRecords.class.getName());
  private static final String PREFIX = "launch-";
  private static final String RECORD = "process.properties";

  private final Path run;

  LaunchRecords(Path home) {
    this.run = home.resolve("run");
  }

  /** An engine that a dead agent left behind. */
  record Leftover(String worker, ProcessHandle process) {}

  /** The folder of one launch, with an empty {@code config} folder in it. */
  Path create(long generation) throws IOException {
    Path folder = run.resolve(PREFIX + generation);
    Files.createDirectories(folder.resolve("config"));
    return folder;
  }

  /** Notes which process runs for the launch. */
  void write(Path folder, String worker, long pid) throws IOException {
    Properties record = new Properties();
    long agent = ProcessHandle.current().pid();
    record.setProperty("worker", worker);
    record.setProperty("pid", Long.toString(pid));
    record.setProperty("start", ProcessFacts.identity(pid).orElse(""));
    record.setProperty("agent.pid", Long.toString(agent));
    record.setProperty("agent.start", ProcessFacts.identity(agent).orElse(""));
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

  /** Engines of dead agents; the records of everything that is over are removed. */
  List<Leftover> leftovers() {
    List<Leftover> leftovers = new ArrayList<>();
    try (DirectoryStream<Path> folders = Files.newDirectoryStream(run, PREFIX + "*")) {
      for (Path folder : folders) {
        Properties record = read(folder);
        if (lives(record, "agent.pid", "agent.start").isPresent()) {
          continue;
        }
        lives(record, "pid", "start")
            .map(handle -> new Leftover(record.getProperty("worker", "?"), handle))
            .ifPresent(leftovers::add);
        remove(folder);
      }
    } catch (IOException e) {
      LOG.log(System.Logger.Level.DEBUG, "{0} holds no launches: {1}", run, e.getMessage());
    }
    return leftovers;
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
