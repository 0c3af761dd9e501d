package dev.flotilla.agent.models;

import java.net.URI;
import java.util.Locale;
import java.util.Set;

/** Which addresses may be fetched from: TLS everywhere but on this machine. */
final class WebAddress {
  private static final Set<String> LOOPBACK = Set.of("127.0.0.1", "localhost", "[::1]");

  private WebAddress() {}

  /** Why {@code address} is not fetched from, as the end of a sentence; empty where it may be. */
  static String refusal(URI address) {
    String scheme = address.getScheme();
    String host = address.getHost();
    if (scheme == null || host == null || host.isEmpty()) {
      return "names no host.";
    }
    if (address.getRawUserInfo() != null) {
      return "carries a user name or password, which would end up in logs.";
    }
    if (scheme.equals("https")) {
      return "";
    }
    if (!scheme.equals("http")) {
      return "is neither https: nor http:.";
    }
    return LOOPBACK.contains(host.toLowerCase(Locale.ROOT))
        ? ""
        : "is not encrypted; http: is allowed to this machine only, use https:.";
  }

  /** Whether a secret meant for {@code one} may be sent to {@code other}. */
  static boolean sameOrigin(URI one, URI other) {
    return one.getScheme().equalsIgnoreCase(other.getScheme())
        && one.getHost().equalsIgnoreCase(other.getHost())
        && port(one) == port(other);
  }

  /** Scheme, host, port and path; a query may hold a signature, so it is left out. */
  static String shown(URI address) {
    return address.getScheme() + "://" + address.getRawAuthority() + address.getRawPath();
  }

  private static int port(URI address) {
    if (address.getPort() >= 0) {
      return address.getPort();
    }
    return address.getScheme().equalsIgnoreCase("https") ? 443 : 80;
  }
}
