package dev.flotilla.cli.serve;

import dev.flotilla.cli.Version;
import dev.flotilla.cli.home.HomeLock;
import dev.flotilla.cli.output.Failure;
import dev.flotilla.cli.output.NamedFile;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.cli.output.WrongUsage;
import dev.flotilla.hub.HubConfig;
import dev.flotilla.hub.HubRefused;
import dev.flotilla.hub.StartCheck;
import dev.flotilla.hub.proof.ProofLimits;
import dev.flotilla.server.http.HttpServer.Certificate;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Where a hub listens, and how it is protected there. */
final class ListenOptions {
  @Option(
      names = "--listen",
      paramLabel = "HOST:PORT",
      converter = ListenAddress.class,
      description =
          "Where to listen (default: "
              + ListenAddress.DEFAULT
              + ", this machine alone; 0.0.0.0:8484 for others too, which then need keys).")
  private @Nullable InetSocketAddress listen;

  @Option(
      names = "--tls-cert",
      paramLabel = "FILE",
      description = "Certificate chain (PEM) for the listener.")
  private @Nullable Path certificate;

  @Option(
      names = "--tls-key",
      paramLabel = "FILE",
      description = "The certificate's private key (PEM, no passphrase).")
  private @Nullable Path key;

  @Option(
      names = "--ca",
      paramLabel = "FILE",
      description =
          "Authorities (PEM) that the certificates of backends are checked by, beside this"
              + " machine's own.")
  private @Nullable Path authorities;

  @Option(
      names = "--allow-no-keys",
      description =
          "Listens beyond this machine without demanding keys: whoever reaches it may use and"
              + " configure it.")
  private boolean allowNoKeys;

  /**
   * The hub's configuration. Where the home is a new one, all that can keep the hub from starting
   * is looked at here, before anything is made there.
   *
   * @param agentInside whether an agent of the same process dials the hub
   */
  HubConfig config(Path home, Shell shell, boolean agentInside) {
    if ((certificate == null) != (key == null)) {
      throw new WrongUsage("--tls-cert and --tls-key are given together, or neither");
    }
    Optional<Certificate> tls =
        certificate != null && key != null
            ? Optional.of(
                new Certificate(
                    NamedFile.readable("--tls-cert", certificate),
                    NamedFile.readable("--tls-key", key)))
            : Optional.empty();
    InetSocketAddress address =
        listen != null ? listen : new ListenAddress().convert(ListenAddress.DEFAULT);
    boolean reachableByLoopback =
        address.getAddress().isLoopbackAddress() || address.getAddress().isAnyLocalAddress();
    HubConfig config =
        new HubConfig(
            home,
            address,
            tls,
            Optional.ofNullable(authorities).map(file -> NamedFile.readable("--ca", file)),
            agentInside && (tls.isPresent() || !reachableByLoopback),
            allowNoKeys,
            shell.machineName(),
            Version.number(),
            shell::variable,
            ProofLimits.DEFAULTS);
    if (HomeLock.isNew(home, "hub")) {
      try {
        StartCheck.pass(config);
      } catch (HubRefused e) {
        throw new Failure(String.valueOf(e.getMessage()), e);
      }
    }
    return config;
  }

  boolean beyondThisMachine() {
    return listen != null && !listen.getAddress().isLoopbackAddress();
  }
}
