package dev.flotilla.agent.lanes;

import dev.flotilla.wire.files.OwnerOnly;
import dev.flotilla.wire.text.Names;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Who the agent of one home folder is: {@code HOME/agent/id}, {@code generation}, {@code node} and
 * {@code credential}.
 *
 * <p>The id is random and made once; a hub tells two agents of one name apart by it. The generation
 * grows with every {@link #open}, and is on the disk before anything is done under it, so two runs
 * of an agent never have the same one. The credential is a secret, and good for the node's name
 * that it was given for, which stands beside it: its file has mode 600 from its first byte on. Each
 * file is replaced in one step. The caller holds the home's lock.
 */
public final class AgentIdentity {
  private static final Pattern ID = Pattern.compile("[0-9a-f]{32}");
  private static final Pattern NUMBER = Pattern.compile("\\d{1,18}");
  private static final Pattern PRINTABLE = Pattern.compile("[!-~]{1,1024}");

  private final Path folder;
  private final String agentId;
  private final long generation;

  private AgentIdentity(Path folder, String agentId, long generation) {
    this.folder = folder;
    this.agentId = agentId;
    this.generation = generation;
  }

  /**
   * Reads the identity of {@code home}, makes what is missing, and counts this start.
   *
   * @throws IOException where the folder can't be written, or holds what no agent wrote
   */
  public static AgentIdentity open(Path home) throws IOException {
    Path folder = home.resolve("agent");
    Files.createDirectories(folder, OwnerOnly.folder());
    Optional<String> id = read(folder, "id", ID);
    if (id.isEmpty()) {
      byte[] random = new byte[16];
      new SecureRandom().nextBytes(random);
      id = Optional.of(HexFormat.of().formatHex(random));
      replace(folder, "id", id.get());
    }
    long generation = read(folder, "generation", NUMBER).map(Long::parseLong).orElse(0L) + 1;
    replace(folder, "generation", Long.toString(generation));
    return new AgentIdentity(folder, id.get(), generation);
  }

  /** Whether the agent of that home has what it shows a hub. */
  public static boolean isEnrolled(Path home) {
    return Files.exists(home.resolve("agent").resolve("credential"));
  }

  public String agentId() {
    return agentId;
  }

  /** How often an agent was started on this home, this time included. */
  public long generation() {
    return generation;
  }

  /** The node's name that this agent enrolled under; empty where it never did. */
  public Optional<String> node() throws IOException {
    Optional<String> node = read(folder, "node", PRINTABLE);
    if (node.flatMap(Names::nodeProblem).isPresent()) {
      throw unreadable(folder.resolve("node"));
    }
    return node;
  }

  /** What the hub gave this agent when it enrolled; a secret. */
  Optional<String> credential() throws IOException {
    return read(folder, "credential", PRINTABLE);
  }

  /** Keeps what the hub gave this agent for its node's name. */
  void keepCredential(String node, String credential) throws IOException {
    if (!PRINTABLE.matcher(credential).matches()) {
      throw new IOException("the hub's credential is not one: it must be printable ASCII");
    }
    replace(folder, "node", node);
    replace(folder, "credential", credential);
  }

  @Override
  public String toString() {
    return "AgentIdentity[" + agentId + " generation " + generation + "]";
  }

  private static Optional<String> read(Path folder, String name, Pattern form) throws IOException {
    Path file = folder.resolve(name);
    if (!Files.exists(file)) {
      return Optional.empty();
    }
    if (Files.size(file) > 2048) {
      throw unreadable(file);
    }
    String text = Files.readString(file, StandardCharsets.ISO_8859_1).strip();
    if (!form.matcher(text).matches()) {
      throw unreadable(file);
    }
    return Optional.of(text);
  }

  private static IOException unreadable(Path file) {
    return new IOException(
        "The file "
            + file
            + " is damaged. Remove the folder "
            + file.getParent()
            + " and start the agent with a new token, under another --name or after the hub forgot"
            + " this node.");
  }

  private static void replace(Path folder, String name, String text) throws IOException {
    Path fresh = folder.resolve(name + ".new");
    Files.deleteIfExists(fresh);
    Files.createFile(fresh, OwnerOnly.file());
    try (FileChannel channel = FileChannel.open(fresh, StandardOpenOption.WRITE)) {
      ByteBuffer bytes = ByteBuffer.wrap((text + "\n").getBytes(StandardCharsets.US_ASCII));
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      channel.force(true);
    }
    Files.move(
        fresh,
        folder.resolve(name),
        StandardCopyOption.ATOMIC_MOVE,
        StandardCopyOption.REPLACE_EXISTING);
  }
}
