package dev.flotilla.hub;

import dev.flotilla.hub.proof.ProofLimits;
import dev.flotilla.server.http.HttpServer.Certificate;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Function;

/**
 * How one hub is run.
 *
 * @param home the state folder; the hub's own part of it is {@code HOME/hub}
 * @param listen the one address that clients, agents and people call; port 0 takes any free one
 * @param certificate what the listener proves itself with; without one it speaks plain HTTP
 * @param authorities PEM file of authorities that backends' certificates are checked by, beside the
 *     machine's own
 * @param localListener whether there is a second listener, without TLS and on loopback, for an
 *     agent in the same process: where the first has a certificate it is for another name
 * @param allowNoKeys whether a hub beyond loopback may run without demanding keys
 * @param machineName the machine's own name, empty where unknown
 * @param version of this program, for status and agents
 * @param environment looks up the variables that hold backends' keys
 * @param proofs what proofs of workers may take
 */
public record HubConfig(
    Path home,
    InetSocketAddress listen,
    Optional<Certificate> certificate,
    Optional<Path> authorities,
    boolean localListener,
    boolean allowNoKeys,
    String machineName,
    String version,
    Function<String, Optional<String>> environment,
    ProofLimits proofs) {

  /** A hub for this machine alone, on any free port of loopback, without TLS. */
  public static HubConfig local(Path home) {
    return new HubConfig(
        home,
        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
        Optional.empty(),
        Optional.empty(),
        false,
        false,
        "",
        "",
        name -> Optional.empty(),
        ProofLimits.DEFAULTS);
  }

  /** The same with other limits for proofs. */
  public HubConfig proving(ProofLimits limits) {
    return new HubConfig(
        home,
        listen,
        certificate,
        authorities,
        localListener,
        allowNoKeys,
        machineName,
        version,
        environment,
        limits);
  }

  /** Whether only this machine can call the hub. */
  public boolean loopbackOnly() {
    return listen.getAddress().isLoopbackAddress();
  }
}
