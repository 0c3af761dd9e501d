package dev.flotilla.cli.serve;

import dev.flotilla.cli.output.Text;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads {@code HOST:PORT}, and what people write in its place: a port alone, a host alone. */
class ListenAddress implements ITypeConverter<InetSocketAddress> {
  static final String DEFAULT = "127.0.0.1:8484";

  private final int portDefault;

  ListenAddress() {
    this(8484);
  }

  ListenAddress(int portDefault) {
    this.portDefault = portDefault;
  }

  @Override
  public InetSocketAddress convert(String text) {
    String host = text.strip();
    int port = portDefault;
    if (host.isEmpty()) {
      throw new TypeConversionException("it is empty; one looks like " + DEFAULT);
    }
    int colon = host.lastIndexOf(':');
    if (host.chars().allMatch(Character::isDigit)) {
      port = port(host, text);
      host = "127.0.0.1";
    } else if (colon >= 0
        && host.indexOf(']') < colon
        && (host.startsWith("[") || host.indexOf(':') == colon)) {
      port = port(host.substring(colon + 1), text);
      host = host.substring(0, colon);
    }
    if (host.startsWith("[") && host.endsWith("]")) {
      host = host.substring(1, host.length() - 1);
    }
    if (host.isEmpty() || host.equals("*")) {
      host = "0.0.0.0";
    }
    try {
      return new InetSocketAddress(InetAddress.getByName(host), port);
    } catch (UnknownHostException e) {
      throw wrong(text, ": this machine knows no address '" + Text.printable(host) + "'");
    }
  }

  private static int port(String digits, String text) {
    try {
      int port = Integer.parseInt(digits);
      if (port >= 0 && port <= 65_535) {
        return port;
      }
    } catch (NumberFormatException e) {
      // Said below, as for a number out of range.
    }
    throw wrong(text, "");
  }

  private static TypeConversionException wrong(String text, String why) {
    return new TypeConversionException(
        "'" + Text.printable(text) + "' is not HOST:PORT, such as " + DEFAULT + why);
  }
}
