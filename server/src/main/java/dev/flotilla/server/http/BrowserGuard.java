package dev.flotilla.server.http;

import dev.flotilla.wire.openai.ApiError;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.Method;
import io.helidon.webserver.http.ServerRequest;
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
 * says where the page is from ({@code Origin}), so a request that changes something, or has an open
 * server compute, must come from the server's own pages or from no page. And a page may point its
 * own name at {@code 127.0.0.1} (DNS rebinding), so that it seems to be of it: then the browser
 * still sends that name in {@code Host}, so where no key protects the server the name must be an
 * address, or one of this machine's names.
 */
public final class BrowserGuard {
  private static final HeaderName FETCH_SITE = HeaderNames.create("Sec-Fetch-Site");

  private final String refusedHost;
  private final String refusedPage;
  private final String refusedChange;
  private final Set<String> knownHosts = new HashSet<>();
  private final boolean hostMatters;

  /**
   * What a request says of where it comes from.
   *
   * @param changes whether it may change something, or begin any other work
   * @param host the {@code Host} header, empty where there is none
   * @param origin the {@code Origin} header, empty where there is none
   * @param fetchSite the {@code Sec-Fetch-Site} header, empty where there is none
   */
  public record Source(boolean changes, String host, String origin, String fetchSite) {
    /** That of a request. */
    public static Source of(ServerRequest request) {
      Method method = request.prologue().method();
      return new Source(
          !method.equals(Method.GET) && !method.equals(Method.HEAD),
          header(request, HeaderNames.HOST),
          header(request, HeaderNames.ORIGIN),
          header(request, FETCH_SITE));
    }

    private static String header(ServerRequest request, HeaderName name) {
      return request.headers().first(name).orElse("");
    }

    /** Whether a page that is not the server's own sent it, or a program behind a browser did. */
    private boolean isForeign() {
      return fetchSite.equals("cross-site") || !isOwn();
    }

    private boolean isOwn() {
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

    /** Whether it is from a program that has its pages installed, or an extension of a browser. */
    private boolean isInstalled() {
      int colon = origin.indexOf("://");
      return colon > 0 && !origin.regionMatches(true, 0, "http", 0, 4);
    }
  }

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
    refusedChange = "A page of another site may not change anything on this " + server + ".";
    refusedHost =
        "This "
            + server
            + " demands no keys, so it answers only to its address or its machine's name, not to"
            + " the name that this request used. Call it by its address, or "
            + remedy
            + ".";
    refusedPage =
        "This "
            + server
            + " demands no keys, so no page of another site may have it work. Ask it from a program,"
            + " or "
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

  /** Why a request for the server's own state is refused, or nothing. */
  public Optional<ApiError> refusal(Source source) {
    return refusal(source, source.isForeign(), refusedChange);
  }

  /**
   * Why a request for what whoever has a key may ask is refused, or nothing: where keys are
   * demanded, that is all that matters. Where none are, programs whose pages are installed, such as
   * editors, may ask as a command line may; a browser gives no web page their {@code Origin}.
   */
  public Optional<ApiError> refusalOfUse(Source source) {
    return hostMatters
        ? refusal(source, source.isForeign() && !source.isInstalled(), refusedPage)
        : Optional.empty();
  }

  private Optional<ApiError> refusal(Source source, boolean foreign, String refusedForeign) {
    if (hostMatters && !isKnown(hostName(source.host()))) {
      return refused("host_not_allowed", refusedHost);
    }
    return source.changes() && foreign
        ? refused("origin_not_allowed", refusedForeign)
        : Optional.empty();
  }

  private static Optional<ApiError> refused(String code, String message) {
    return Optional.of(new ApiError(403, "invalid_request_error", code, message, null, null));
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
