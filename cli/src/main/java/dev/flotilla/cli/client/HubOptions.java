package dev.flotilla.cli.client;

import dev.flotilla.cli.output.Failure;
import dev.flotilla.cli.output.Shell;
import java.net.URI;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which hub is asked, and as whom: the options that every client command takes. */
public final class HubOptions {
  /** Where {@code flotilla up} and {@code flotilla hub} listen unless told otherwise. */
  public static final String DEFAULT_HUB = "http://127.0.0.1:8484";

  @Option(
      names = "--hub",
      paramLabel = "URL",
      description = "The hub's address (else FLOTILLA_HUB, else " + DEFAULT_HUB + ").")
  private @Nullable String hub;

  @Option(
      names = "--key",
      paramLabel = "KEY",
      description =
          "The key to ask with, where the hub demands one. Better in FLOTILLA_KEY: arguments are"
              + " visible to other users of the machine.")
  private @Nullable String key;

  @Option(
      names = "--ca",
      paramLabel = "FILE",
      description = "Certificate (PEM) of the authority that the hub's certificate is checked by.")
  private @Nullable Path ca;

  public HubOptions() {}

  /** The hub's address without a slash at the end. */
  public URI address(Shell shell) {
    return httpAddress(
        hub != null ? hub : shell.variable("FLOTILLA_HUB").orElse(DEFAULT_HUB),
        hub != null ? "--hub" : "FLOTILLA_HUB");
  }

  /** The key of the option, else of the environment. */
  public Optional<String> key(Shell shell) {
    return key != null ? Optional.of(key) : shell.variable("FLOTILLA_KEY");
  }

  /** A client of that hub. */
  public HubClient client(Shell shell) {
    return new HubClient(address(shell), key(shell), Optional.ofNullable(ca));
  }

  /** The authority's file, where one is named. */
  public Optional<Path> ca() {
    return Optional.ofNullable(ca);
  }

  /**
   * Reads an address that a person typed.
   *
   * @param from the option or variable, for the message
   */
  public static URI httpAddress(String text, String from) {
    String trimmed = text.contains("://") ? text.strip() : "http://" + text.strip();
    while (trimmed.endsWith("/")) {
      trimmed = trimmed.substring(0, trimmed.length() - 1);
    }
    try {
      URI uri = URI.create(trimmed);
      String scheme = uri.getScheme().toLowerCase(Locale.ROOT);
      if (uri.getHost() != null && (scheme.equals("http") || scheme.equals("https"))) {
        return uri;
      }
    } catch (IllegalArgumentException e) {
      // Said below, as for every other text that is no address.
    }
    throw new Failure(
        from + " is no address: '" + text + "'; one looks like " + DEFAULT_HUB + " or https://…");
  }
}
