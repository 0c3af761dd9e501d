package dev.flotilla.agent.lanes;

import java.util.Locale;
import javax.net.ssl.SSLException;

/** Why TLS with a server fails, in words for a person: the agent's and the command line's. */
public final class TlsTrouble {
  private TlsTrouble() {}

  /**
   * One sentence without its full stop, with what to do where that is known.
   *
   * @param address {@code https://HOST:PORT}
   */
  public static String explain(String address, SSLException failure) {
    String detail = details(failure);
    String lower = detail.toLowerCase(Locale.ROOT);
    if (lower.contains("unrecognized ssl message") || lower.contains("plaintext")) {
      return address
          + " speaks plain HTTP, not TLS: write it as "
          + address.replaceFirst("^https:", "http:");
    }
    if (lower.contains("certificate expired") || lower.contains("notafter")) {
      return "the certificate of " + address + " has expired: the server needs a new one";
    }
    if (lower.contains("pkix") || lower.contains("unable to find valid certification path")) {
      return "the certificate of "
          + address
          + " is signed by no authority that this machine trusts; pass the authority's"
          + " certificate with --ca FILE";
    }
    if (lower.contains("subject alternative") || lower.contains("no name matching")) {
      return "the certificate of " + address + " is for another name: " + failure.getMessage();
    }
    return "TLS with " + address + " fails: " + failure.getMessage();
  }

  /** The messages of the failure and its causes: clients wrap what TLS says. */
  private static String details(Throwable failure) {
    StringBuilder all = new StringBuilder();
    int depth = 0;
    for (Throwable each = failure; each != null && depth < 8; each = each.getCause()) {
      all.append(each.getMessage()).append('\n');
      depth++;
    }
    return all.toString();
  }
}
