package dev.flotilla.server.http;

import dev.flotilla.wire.openai.ApiError;
import java.net.URI;
import java.util.HashSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * Keeps other sites' pages from acting through a browser that can reach a server of ours: the hub,
 * or the built-in engine.
 *
 * <p>Two attacks are met. A page of another site may send a request to {@code 127.0.0.1}: a browser
 * says where the page is from ({@code Origin}), so a request that changes something must come from
 * the server's own pages or from no page. And a page may point its own name at {@code 127.0.0.1}
 * (DNS rebinding), so that it seems to be of it: then the browser still sends that name in {@code
 * Host}, so where no key protects the server the name must be an address, or one of this machine's
 * names.
 */
public final class BrowserGuard {
  private final String refusedHost;
  private final String server;
  private final Set<String> knownHosts = new HashSet<>();
  private final boolean hostMatters;

  /**
   * @param server what it calls itself, such as {@code hub}
   * @param remedy how a key is demanded, as the end of "call it by its address, or"
   * @param listenHost what it listens on
   * @param machineName the machine's own name, empty where unknown
   * @param keysDemanded where they are, a page without one can do nothing, and a server may be
   *     called by whatever name leads to it
   */
  public BrowserGuard(
      String server, String remedy, String listenHost, String machineName, boolean keysDemanded) {
    this.server = server;
    refusedHost =
        "This "
            + server
            + " demands no keys, so it answers only to its address or its machine's name, not to"
            + " the name that this request used. Call it by its address, or "
            + remedy
            + ".";
    hostMatters = !keysDemanded;
    knownHosts.add("localhost");
    knownHosts.add(listenHost.toLowerCase(Locale.ROOT));
    String machine = machineName.toLowerCase(Locale.ROOT);
    if (!machine.isEmpty()) {
      knownHosts.add(machine);
      knownHosts.add(machine + ".local");
      int dot = machine.indexOf('.');
      if (dot > 0) {
        knownHosts.add(machine.substring(0, dot));
      }
    }
  }

  /**
   * Why the request is refused, or nothing.
   *
   * @param changes whether it may change something
   * @param host the {@code Host} header, empty where there is none
   * @param origin the {@code Origin} header, empty where there is none
   * @param fetchSite the {@code Sec-Fetch-Site} header, empty where there is none
   */
  public Optional<ApiError> refusal(boolean changes, String host, String origin, String fetchSite) {
    if (hostMatters && !isKnown(hostName(host))) {
      return refused("host_not_allowed", refusedHost);
    }
    if (changes && (fetchSite.equals("cross-site") || !isOwn(origin, host))) {
      return refused(
          "origin_not_allowed",
          "A page of another site may not change anything on this " + server + ".");
    }
    return Optional.empty();
  }

  private static Optional<ApiError> refused(String code, String message) {
    return Optional.of(new ApiError(403, "invalid_request_error", code, message, null, null));
  }

  private static boolean isOwn(String origin, String host) {
    if (origin.isEmpty()) {
      return true;
    }
    try {
      String authority = URI.create(origin).getRawAuthority();
      return authority != null && authority.equalsIgnoreCase(host);
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private boolean isKnown(String name) {
    return isAddress(name) || knownHosts.contains(name.toLowerCase(Locale.ROOT));
  }

  /** The host without its port. */
  private static String hostName(String host) {
    if (host.startsWith("[")) {
      int end = host.indexOf(']');
      return end < 0 ? host : host.substring(0, end + 1);
    }
    int colon = host.indexOf(':');
    return colon < 0 ? host : host.substring(0, colon);
  }

  /** A name that no name server was asked for can't have been rebound. */
  private static boolean isAddress(String name) {
    if (name.startsWith("[")) {
      return name.endsWith("]")
          && name.chars()
              .skip(1)
              .limit(name.length() - 2L)
              .allMatch(c -> isHex(c) || c == ':' || c == '.');
    }
    String[] parts = name.split("\\.", -1);
    if (parts.length != 4) {
      return false;
    }
    for (String part : parts) {
      if (part.isEmpty() || part.length() > 3 || !part.chars().allMatch(Character::isDigit)) {
        return false;
      }
    }
    return true;
  }

  private static boolean isHex(int c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  }
}
