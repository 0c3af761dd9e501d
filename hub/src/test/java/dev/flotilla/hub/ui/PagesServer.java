package dev.flotilla.hub.ui;

import dev.flotilla.hub.gateway.HubListener;
import dev.flotilla.server.http.HttpServer;
import dev.flotilla.server.http.HttpServer.Place;
import dev.flotilla.server.http.ListenFailed;
import io.helidon.webserver.http.HttpService;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;

/** The hub's listener with some of its pages alone. */
final class PagesServer {
  private PagesServer() {}

  static HttpServer start(int port, HttpService... pages) {
    try {
      return HubListener.of(
              Place.plain(new InetSocketAddress(InetAddress.getLoopbackAddress(), port)),
              HubListener.LIMITS,
              HubListener.LIMITS::bodyBytesMax,
              List.of(pages),
              List.of())
          .start();
    } catch (ListenFailed taken) {
      throw new UncheckedIOException(taken);
    }
  }
}
