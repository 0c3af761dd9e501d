package dev.flotilla.agent.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.agent.process.PortOwners.Listener;
import dev.flotilla.testkit.real.Needs;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PortOwnersTest {
  private static final String HEADING =
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode";

  /** Recorded: 127.0.0.1:9391, 0.0.0.0:8080, 127.0.0.1:8080, and a connection of the first. */
  private static final List<String> TCP =
      List.of(
          HEADING,
          "   0: 0100007F:24AF 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 71201 1 0000000000000000 100 0 0 10 0",
          "   1: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 71300 1 0000000000000000 100 0 0 10 0",
          "   2: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 71301 1 0000000000000000 100 0 0 10 0",
          "   3: 0100007F:24AF 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 71400 1 0000000000000000 20 4 30 10 -1");

  private static final List<String> TCP6 =
      List.of(
          HEADING,
          "   0: 00000000000000000000000000000000:22B8 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 71500 1 0000000000000000 100 0 0 10 0");

  /** The form of lsof -F pdn, for a server on loopback, one on all addresses, and a forked one. */
  private static final String LSOF =
      """
      p4711
      f5
      d0x6f1c2a9be3d8e5a1
      n127.0.0.1:9391
      p4712
      f3
      d0x6f1c2a9be3d90001
      n*:8080
      p4713
      f7
      d0x6f1c2a9be3d90002
      n[::ffff:127.0.0.1]:8080
      """;

  @Test
  void theTableNamesTheSocketThatAConnectionWouldReach() {
    assertThat(LinuxPortOwners.inodes(TCP, TCP6, 9391)).containsExactly("71201");
    assertThat(LinuxPortOwners.inodes(TCP, TCP6, 8080)).containsExactly("71301");
    assertThat(LinuxPortOwners.inodes(TCP, TCP6, 8888)).containsExactly("71500");
    assertThat(LinuxPortOwners.inodes(TCP, TCP6, 8889)).isEmpty();
    assertThat(LinuxPortOwners.inodes(List.of(HEADING, "rubbish"), List.of(), 9391)).isEmpty();
  }

  @Test
  void whatLsofSaysNamesProcessAndSocket() {
    assertThat(MacPortOwners.parse(LSOF, 9391))
        .containsExactly(new Listener("0x6f1c2a9be3d8e5a1", OptionalLong.of(4711)));
    assertThat(MacPortOwners.parse(LSOF, 8080))
        .containsExactly(new Listener("0x6f1c2a9be3d90002", OptionalLong.of(4713)));
    assertThat(MacPortOwners.parse("", 9391)).isEmpty();
    assertThat(MacPortOwners.parse("px\nf\nd\nn127.0.0.1:9391\n", 9391))
        .containsExactly(new Listener("", OptionalLong.empty()));
  }

  @Test
  void thisProcessOwnsWhatItListensOn() throws Exception {
    Needs.that(Files.exists(Path.of("/proc/net/tcp")), "/proc/net/tcp, which Linux has");
    long self = ProcessHandle.current().pid();
    int port;
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = server.getLocalPort();
      for (Set<Long> likely : List.of(Set.of(self), Set.<Long>of())) {
        assertThat(PortOwners.ofSystem().listeners(port, likely).orElseThrow())
            .singleElement()
            .satisfies(listener -> assertThat(listener.pid()).hasValue(self));
      }
    }
    assertThat(PortOwners.ofSystem().listeners(port, Set.of()).orElseThrow()).isEmpty();
  }
}
