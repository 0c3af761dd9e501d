package dev.flotilla.cli.update;

import dev.flotilla.cli.output.Failure;
import dev.flotilla.cli.output.NamedFile;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.cli.output.WrongUsage;
import dev.flotilla.wire.files.OwnerOnly;
import dev.flotilla.wire.release.ReleaseKey;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code flotilla release}: this build as a file that agents may be replaced by. */
@Command(
    name = "release",
    description = "Makes a signed release of this build, for 'flotilla update offer'.",
    footer = {
      "%nIt writes flotilla-VERSION.zip, and beside it .json with version, size, SHA-256 and signature.",
      "Agents take it whose policy names the key: update: { keys: [ed25519:…] }.",
      "%nExamples:",
      "  flotilla release keygen release.key       prints the line for the policies",
      "  flotilla release --key release.key --out .",
    })
public final class ReleaseCommand implements Callable<Integer> {
  private static final int KEY_BYTES_MAX = 64 << 10;

  private final Shell shell;

  @Option(
      names = "--key",
      paramLabel = "FILE",
      description = "The private key that signs it, from 'flotilla release keygen'.")
  private @Nullable Path key;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description = "The folder where it goes, made where there is none (default: here).")
  private Path out = Path.of("");

  @Option(
      names = "--from",
      paramLabel = "DIR",
      description =
          "The folder with lib/ and version to make it of (default: the one this command runs from).")
  private @Nullable Path from;

  public ReleaseCommand(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() {
    if (key == null) {
      throw new WrongUsage(
          "say which key signs it: --key FILE ('flotilla release keygen' makes one)");
    }
    Path secret = NamedFile.readable("--key", key);
    LaunchFolder source =
        from != null
            ? new LaunchFolder(from.toAbsolutePath().normalize())
            : LaunchFolder.ofThisProcess()
                .orElseThrow(() ->
                    new Failure(
                        "this command runs from class files; name a build with --from DIR, such as"
                            + " cli/target"));
    try {
      if (Files.size(secret) > KEY_BYTES_MAX) {
        throw new Failure("--key: " + secret + " is too large for a key");
      }
      String pem = Files.readString(secret, StandardCharsets.ISO_8859_1);
      Path folder = NamedFile.newFolder("--out", out.toAbsolutePath());
      ReleaseFile made = ReleaseFile.make(source, pem, folder);
      shell.out().println(made.file());
      shell.out().flush();
      shell
          .err()
          .println(
              "(version "
                  + made.release().version()
                  + ", "
                  + (made.release().bytes() >> 20)
                  + " MiB; to a fleet with: flotilla update offer "
                  + made.file().getFileName()
                  + ")");
    } catch (IOException e) {
      throw new Failure("the release was not made: " + e.getMessage(), e);
    }
    return 0;
  }

  /** {@code flotilla release keygen}. */
  @Command(
      name = "keygen",
      description = "Makes a key that signs releases, and prints its public half.",
      footer = {
        "%nKeep the file where releases are made, and nowhere else: who has it decides what runs on",
        "every machine whose policy names the printed half.",
        "%nExample:",
        "  flotilla release keygen release.key",
      })
  public static final class Keygen implements Callable<Integer> {
    private final Shell shell;

    @Parameters(paramLabel = "FILE", description = "Where the private half goes; a new file.")
    private Path file = Path.of("");

    public Keygen(Shell shell) {
      this.shell = shell;
    }

    @Override
    public Integer call() {
      Path target = NamedFile.writable("FILE", file);
      ReleaseKey.Pair pair = ReleaseKey.generate();
      try (FileChannel channel =
          FileChannel.open(
              target,
              Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
              OwnerOnly.file())) {
        Channels.newOutputStream(channel)
            .write(pair.privatePem().getBytes(StandardCharsets.US_ASCII));
        channel.force(true);
      } catch (FileAlreadyExistsException e) {
        throw new Failure(target + " is there already, and a key is never written over", e);
      } catch (IOException e) {
        throw new Failure("the key was not written to " + target + ": " + e.getMessage(), e);
      }
      shell.out().println(pair.key().text());
      shell.out().flush();
      shell
          .err()
          .println(
              "(the public half; in HOME/agent/policy.yaml of each machine: update: { keys: [\""
                  + pair.key().text()
                  + "\"] })");
      return 0;
    }
  }
}
