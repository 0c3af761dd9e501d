package dev.flotilla.agent.lanes;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;

/**
 * Where the hub is.
 *
 * @param host a name or an address, IPv6 in brackets
 */
public record HubAddress(String host, int port, boolean tls) {

  /**
   * Reads {@code http://HOST:PORT} or {@code https://HOST:PORT}.
   *
   * @throws IllegalArgumentException with one sentence for the person who wrote it
   */
  public static HubAddress parse(String url) {
    URI address;
    try {
      address = new URI(url.strip());
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException("the hub's address is no URL: " + e.getReason(), e);
    }
    String scheme = address.getScheme() == null ? "" : address.getScheme().toLowerCase(Locale.ROOT);
    boolean tls = scheme.equals("https");
    if (!tls && !scheme.equals("http")) {
      throw new IllegalArgumentException(
          "the hub's address must begin with http:// or https://, such as http://10.0.0.5:8484");
    }
    String host = address.getHost();
    if (host == null || address.getRawUserInfo() != null || address.getPort() > 65535) {
      throw new IllegalArgumentException(
          "the hub's address must be http://HOST:PORT or https://HOST:PORT");
    }
    String path = address.getRawPath();
    if ((path != null && !path.isEmpty() && !path.equals("/"))
        || address.getRawQuery() != null
        || address.getRawFragment() != null) {
      throw new IllegalArgumentException(
          "the hub's address ends after the port, without a path: write it as "
              + new HubAddress(host, address.getPort(), tls));
    }
    int port = address.getPort() > 0 ? address.getPort() : tls ? 443 : 80;
    return new HubAddress(host, port, tls);
  }

  /** Host and port as the {@code Host} header says them. */
  String hostHeader() {
    boolean usual = port == (tls ? 443 : 80);
    return usual ? host : host + ":" + port;
  }

  /** The host without the brackets of an IPv6 address. */
  String bareHost() {
    return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
  }

  @Override
  public String toString() {
    return (tls ? "https://" : "http://") + host + (port > 0 ? ":" + port : "");
  }
}
