package dev.flotilla.agent.lanes;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/** The HTTP/1.1 upgrade by which a connection becomes a lane, from the agent's side. */
enum LaneUpgrade {
  CONTROL("/lanes/control", "flotilla-control"),
  WORK("/lanes/work", "flotilla-work");

  /** The hub answered, but not with the upgrade. */
  static final class Refused extends IOException {
    private static final long serialVersionUID = 1L;

    private final int status;

    Refused(int status, String reason) {
      super(reason);
      this.status = status;
    }

    int status() {
      return status;
    }
  }

  private static final int LINE_BYTES_MAX = 8192;
  private static final int HEADERS_MAX = 64;
  private static final int BODY_BYTES_MAX = 4096;
  private static final Pattern STATUS = Pattern.compile("HTTP/1\\.[01] ([1-5]\\d\\d)( .*)?");

  private final String path;
  private final String protocol;

  LaneUpgrade(String path, String protocol) {
    this.path = path;
    this.protocol = protocol;
  }

  String path() {
    return path;
  }

  /** Asks for the lane and reads the answer's head, not a byte more. */
  void perform(HubConnection hub, HubAddress address, Caller caller) throws IOException {
    hub.output().write(request(address, caller).getBytes(StandardCharsets.US_ASCII));
    hub.output().flush();
    accept(hub.input());
  }

  /**
   * Who dials.
   *
   * @param credential a secret
   */
  record Caller(String node, long generation, String credential) {
    @Override
    public String toString() {
      return "Caller[" + node + " generation " + generation + "]";
    }
  }

  String request(HubAddress address, Caller caller) {
    return "GET "
        + path
        + " HTTP/1.1\r\nHost: "
        + address.hostHeader()
        + "\r\nConnection: Upgrade\r\nUpgrade: "
        + protocol
        + "\r\nAuthorization: Bearer "
        + caller.credential()
        + "\r\nx-flotilla-node: "
        + caller.node()
        + "\r\nx-flotilla-generation: "
        + caller.generation()
        + "\r\n\r\n";
  }

  /**
   * @throws Refused where the hub says no, with its own words
   */
  void accept(InputStream in) throws IOException {
    String first = line(in);
    Matcher status = STATUS.matcher(first);
    if (!status.matches()) {
      throw new IOException("what answers is no HTTP server");
    }
    List<String> headers = new ArrayList<>();
    for (String line = line(in); !line.isEmpty(); line = line(in)) {
      if (headers.size() == HEADERS_MAX) {
        throw new IOException("the hub's answer has more than " + HEADERS_MAX + " headers");
      }
      headers.add(line);
    }
    int code = Integer.parseInt(status.group(1));
    if (code != 101) {
      throw new Refused(code, reason(code, headers, in));
    }
    boolean upgrades = value(headers, "connection").toLowerCase(Locale.ROOT).contains("upgrade");
    if (!upgrades || !value(headers, "upgrade").equalsIgnoreCase(protocol)) {
      throw new IOException("what answers is no Flotilla hub: it upgrades to another protocol");
    }
  }

  private static String reason(int code, List<String> headers, InputStream in) throws IOException {
    String length = value(headers, "content-length");
    String said = "";
    if (length.matches("\\d{1,4}")) {
      byte[] body = in.readNBytes(Math.min(Integer.parseInt(length), BODY_BYTES_MAX));
      said = message(body);
    }
    return said.isEmpty() ? "HTTP " + code : said;
  }

  /** The sentence in an error body of the hub, empty where it is none. */
  static String message(byte[] body) {
    try {
      String message =
          JsonMapper.shared().readTree(body).path("error").path("message").asString("");
      return message.substring(0, Math.min(message.length(), 500));
    } catch (JacksonException e) {
      return "";
    }
  }

  private static String value(List<String> headers, String name) {
    for (String header : headers) {
      int colon = header.indexOf(':');
      if (colon == name.length() && header.regionMatches(true, 0, name, 0, colon)) {
        return header.substring(colon + 1).strip();
      }
    }
    return "";
  }

  private static String line(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c; (c = in.read()) != '\n'; ) {
      if (c < 0) {
        throw new IOException("the hub closed the connection before it answered");
      }
      if (line.length() == LINE_BYTES_MAX) {
        throw new IOException("a line of the hub's answer is longer than " + LINE_BYTES_MAX);
      }
      line.append((char) c);
    }
    int end = line.length();
    return end > 0 && line.charAt(end - 1) == '\r' ? line.substring(0, end - 1) : line.toString();
  }
}
