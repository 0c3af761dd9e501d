package dev.flotilla.agent.process;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Who listens on a loopback port, as the operating system says: that something answers there proves
 * nothing about which process it is.
 */
interface PortOwners {

  /**
   * Those sockets of the port that a connection to 127.0.0.1 would reach; empty inside where nobody
   * listens, empty itself where this system can't tell.
   *
   * @param likely process ids that are looked at first, so that the answer is quick where it is one
   *     of them
   */
  Optional<List<Listener>> listeners(int port, Set<Long> likely);

  /**
   * A socket that listens.
   *
   * @param socket tells the socket from others, as long as the system runs
   * @param pid the process that has it; empty where it is hidden from this user
   */
  record Listener(String socket, OptionalLong pid) {}

  /** The one for this system. */
  static PortOwners ofSystem() {
    String system = System.getProperty("os.name", "").toLowerCase(Locale.ROOT);
    if (system.contains("linux")) {
      return new LinuxPortOwners();
    }
    return system.contains("mac") ? new MacPortOwners() : (port, likely) -> Optional.empty();
  }
}
