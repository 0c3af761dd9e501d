package dev.flotilla.agent.lanes;

import dev.flotilla.wire.http.Http1;
import dev.flotilla.wire.http.Http1Limits;
import dev.flotilla.wire.http.HttpCall;
import dev.flotilla.wire.http.HttpHeaders;
import dev.flotilla.wire.http.HttpReply;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The hub's releases, for the credential and over the connections that lanes have. */
public final class ReleaseSource {
  private static final int ERROR_BYTES_MAX = 16 << 10;
  private static final Pattern RANGE = Pattern.compile("bytes (\\d{1,18})-\\d{1,18}/\\d{1,18}");

  private final HubDialer dialer;
  private final String node;
  private final AgentIdentity identity;

  public ReleaseSource(HubDialer dialer, String node, AgentIdentity identity) {
    this.dialer = dialer;
    this.node = node;
    this.identity = identity;
  }

  /** The hub does not have it, or not for this agent: asking again changes nothing. */
  public static final class Refused extends IOException {
    private static final long serialVersionUID = 1L;

    Refused(String why) {
      super(why);
    }
  }

  /**
   * A release's bytes from {@code from} on; the caller closes it.
   *
   * @param from where it begins: what was asked for, or 0
   */
  public record Opened(long from, InputStream body, AutoCloseable connection)
      implements AutoCloseable {
    @Override
    public void close() throws IOException {
      try {
        connection.close();
      } catch (Exception e) {
        throw new IOException(e);
      }
    }
  }

  /**
   * Asks for a release.
   *
   * @param from how much is here already
   * @param silence how long a read may wait
   */
  public Opened open(String version, long from, Duration silence) throws IOException {
    String credential = identity.credential().orElseThrow(() -> new IOException("not enrolled"));
    HubConnection hub = dialer.dial();
    boolean opened = false;
    try {
      hub.readLimit(silence);
      HttpReply reply =
          new Http1(hub, dialer.address().hostHeader(), Http1Limits.DEFAULTS)
              .exchange(
                  HttpCall.get(
                      "/lanes/releases/" + version.replace("+", "%2B"),
                      HttpHeaders.of(
                          "authorization",
                          "Bearer " + credential,
                          "x-flotilla-node",
                          node,
                          "range",
                          "bytes=" + from + "-")));
      Opened file = new Opened(begin(reply, from), reply.body(), hub);
      opened = true;
      return file;
    } finally {
      if (!opened) {
        hub.close();
      }
    }
  }

  private static long begin(HttpReply reply, long from) throws IOException {
    if (reply.status() == 200) {
      return 0;
    }
    if (reply.status() == 206) {
      Matcher range = RANGE.matcher(reply.headers().first("content-range").orElse(""));
      if (range.matches() && range.group(1).equals(Long.toString(from))) {
        return from;
      }
      throw new IOException("the hub sent another part than it was asked for");
    }
    String said = LaneUpgrade.message(reply.bytes(ERROR_BYTES_MAX));
    String why = said.isEmpty() ? "the hub answers with HTTP " + reply.status() : said;
    throw reply.status() < 500 ? new Refused(why) : new IOException(why);
  }
}
