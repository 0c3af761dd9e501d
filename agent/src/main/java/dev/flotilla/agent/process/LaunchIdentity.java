package dev.flotilla.agent.process;

import dev.flotilla.agent.engine.EngineAdapter.Readiness;
import dev.flotilla.agent.process.PortOwners.Listener;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Whether what answers on a launch's port is the launch: the process that was started, or one that
 * it started.
 *
 * <p>Where an engine has a key, that it knows the launch's proves it, whoever listens: a program
 * may start its engine in a container, which is no child of anybody here. Where it has none, the
 * owner of the socket is all there is, and a system that can't say who that is proves nothing. Once
 * the launch was proved its socket is remembered: while the same socket listens, the same process
 * answers, and nobody has to look through processes for it. Another socket is another server, also
 * one of the launch's own.
 *
 * <p>For one thread at a time.
 */
final class LaunchIdentity {
  private final ProcessHandle process;
  private final int port;
  private final boolean keyed;
  private final PortOwners owners;
  private @Nullable Set<String> proved;

  LaunchIdentity(ProcessHandle process, int port, boolean keyed, PortOwners owners) {
    this.process = process;
    this.port = port;
    this.keyed = keyed;
    this.owners = owners;
  }

  /** The first proof: who listens, and then what the engine says of itself. */
  Readiness prove(Supplier<Readiness> probe) {
    Optional<List<Listener>> found = owners.listeners(port, tree());
    if (found.isEmpty()) {
      return keyed
          ? probe.get()
          : new Readiness.Wrong(
              "This system does not say which process listens on port %d, and the engine has no key to know it by."
                  .formatted(port));
    }
    List<Listener> listeners = found.get();
    if (listeners.isEmpty()) {
      return new Readiness.NotYet("nothing listens on port " + port + " yet");
    }
    Optional<Listener> stranger = keyed ? Optional.empty() : stranger(listeners);
    if (stranger.isPresent()) {
      return new Readiness.Stranger(
          "Port %d belongs to %s, not to process %d, which was started for it."
              .formatted(port, shown(stranger.get().pid()), process.pid()));
    }
    Readiness readiness = probe.get();
    if (readiness instanceof Readiness.Ready) {
      proved = sockets(listeners);
    }
    return readiness;
  }

  /** Every later look: a socket that is not the one which was proved is another server's. */
  Readiness confirm(Supplier<Readiness> pulse) {
    Set<String> before = proved;
    if (before == null) {
      return pulse.get();
    }
    Optional<List<Listener>> found = owners.listeners(port, tree());
    if (found.isEmpty()) {
      return pulse.get();
    }
    if (found.get().isEmpty()) {
      return new Readiness.NotYet("nothing listens on port " + port + " any more");
    }
    if (!before.equals(sockets(found.get()))) {
      return new Readiness.Stranger(
          "Port %d was opened anew, by %s, since the launch was proved."
              .formatted(port, shown(found.get().getFirst().pid())));
    }
    return pulse.get();
  }

  /** The process that has the port and is not of the launch; empty where there is none. */
  OptionalLong foreignOwner() {
    return owners
        .listeners(port, tree())
        .flatMap(this::stranger)
        .map(Listener::pid)
        .orElse(OptionalLong.empty());
  }

  private Optional<Listener> stranger(List<Listener> listeners) {
    Set<Long> ours = tree();
    return listeners.stream()
        .filter(listener -> listener.pid().isEmpty() || !ours.contains(listener.pid().getAsLong()))
        .findFirst();
  }

  private Set<Long> tree() {
    Set<Long> tree = new HashSet<>();
    tree.add(process.pid());
    process.descendants().forEach(child -> tree.add(child.pid()));
    return tree;
  }

  private static Set<String> sockets(List<Listener> listeners) {
    return listeners.stream().map(Listener::socket).collect(Collectors.toSet());
  }

  private static String shown(OptionalLong pid) {
    return pid.isPresent() ? "process " + pid.getAsLong() : "a process of another user";
  }
}
