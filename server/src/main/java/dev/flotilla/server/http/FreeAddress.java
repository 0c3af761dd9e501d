package dev.flotilla.server.http;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;

/** Whether a server can listen at an address: Helidon only logs what keeps it from that. */
public final class FreeAddress {
  private FreeAddress() {}

  /**
   * Listens there for a moment.
   *
   * @param server what is to listen, such as {@code hub}
   * @throws IOException where the address is taken or is not this machine's, in words for whoever
   *     starts the server
   */
  public static void check(InetSocketAddress at, String server) throws IOException {
    try (ServerSocketChannel channel = ServerSocketChannel.open()) {
      channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
      channel.bind(at);
    } catch (IOException refused) {
      String reason = String.valueOf(refused.getMessage());
      throw new IOException(
          reason.contains("in use")
              ? "the address "
                  + shown(at)
                  + " is in use by another process: see which with 'ss -ltnp' (Linux) or 'lsof -nP"
                  + " -iTCP:"
                  + at.getPort()
                  + " -sTCP:LISTEN' (macOS), or take another address with --listen"
              : "the " + server + " can't listen on " + shown(at) + ": " + reason,
          refused);
    }
  }

  /** As it is written in a URL. */
  public static String shown(InetSocketAddress at) {
    String host = at.getAddress().getHostAddress();
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + at.getPort();
  }
}
