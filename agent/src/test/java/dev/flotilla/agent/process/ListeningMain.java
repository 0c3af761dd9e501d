package dev.flotilla.agent.process;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A process that listens on a loopback port, as an engine does. Says in the file {@code ready} of
 * its folder that it does; opens its port anew when a file {@code reopen} appears there. Where the
 * port is taken it goes on living, as mlx-lm does.
 */
final class ListeningMain {
  private ListeningMain() {}

  /** What starts it on that port. */
  static List<String> command(String port) {
    return List.of(
        ProcessHandle.current().info().command().orElseThrow(),
        "-XX:TieredStopAtLevel=1",
        "-cp",
        System.getProperty("java.class.path"),
        ListeningMain.class.getName(),
        port);
  }

  /** The same for a shell that has the port as its first argument. */
  static String script() {
    return "exec '" + String.join("' '", command("PORT")).replace("PORT", "'\"$1\"'") + "'";
  }

  public static void main(String[] arguments) throws Exception {
    int port = Integer.parseInt(arguments[0]);
    Path reopen = Path.of("reopen");
    while (true) {
      try (ServerSocket server = new ServerSocket()) {
        server.setReuseAddress(true);
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        server.setSoTimeout(50);
        Files.writeString(Path.of("ready"), "");
        while (!Files.deleteIfExists(reopen)) {
          accept(server);
        }
      } catch (BindException e) {
        Thread.sleep(600_000);
      }
    }
  }

  private static void accept(ServerSocket server) throws IOException {
    try (Socket connection = server.accept()) {
      connection
          .getOutputStream()
          .write(
              "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
                  .getBytes(java.nio.charset.StandardCharsets.US_ASCII));
    } catch (SocketTimeoutException e) {
      // nobody asked
    }
  }
}
