package dev.flotilla.cli.client;

import dev.flotilla.cli.home.HomeLock;
import dev.flotilla.cli.home.HomeOption;
import dev.flotilla.cli.output.Failure;
import dev.flotilla.cli.output.NamedFile;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.cli.output.Text;
import dev.flotilla.cli.output.WrongUsage;
import java.net.URI;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Which hub is asked, and as whom: the options that every client command takes. */
public final class HubOptions {
  /** Where {@code flotilla up} and {@code flotilla hub} listen unless told otherwise. */
  public static final String DEFAULT_HUB = "http://127.0.0.1:8484";

  @Option(
      names = "--hub",
      paramLabel = "URL",
      description =
          "The hub's address (else that of the hub that runs on --home, else FLOTILLA_HUB, else that"
              + " of the hub that runs on FLOTILLA_HOME, else of the one on ~/.flotilla, else "
              + DEFAULT_HUB
              + ").")
  private @Nullable String hub;

  @Mixin private final HomeOption home = new HomeOption();

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

  /**
   * The hub's address without a slash at the end.
   *
   * @throws Failure where a state folder is named on which no hub runs
   */
  public URI address(Shell shell) {
    if (!homeAloneSays(shell)) {
      return addressOrUsual(shell);
    }
    Path folder = home.home(shell);
    return HomeLock.hubAddress(folder)
        .map(URI::create)
        .orElseThrow(() ->
            new Failure(
                "no hub runs on "
                    + folder
                    + ": start one with 'flotilla up --home "
                    + folder
                    + "', or name the one you mean with --hub URL"));
  }

  /** The same, and the usual one where no hub runs on the state folder that is named. */
  public URI addressOrUsual(Shell shell) {
    if (hub != null) {
      return httpAddress(hub, "--hub");
    }
    Optional<URI> own =
        home.isNamed() ? HomeLock.hubAddress(home.home(shell)).map(URI::create) : Optional.empty();
    return own.orElseGet(() -> usualAddress(shell));
  }

  /** The hub that is asked where the command line names none. */
  public static URI usualAddress(Shell shell) {
    return shell
        .variable("FLOTILLA_HUB")
        .map(text -> httpAddress(text, "FLOTILLA_HUB"))
        .or(() -> HomeLock.hubAddress(new HomeOption().home(shell)).map(URI::create))
        .orElseGet(() -> URI.create(DEFAULT_HUB));
  }

  /** The state folder, absolute. */
  public Path home(Shell shell) {
    return home.home(shell);
  }

  /**
   * The state folder, where that alone says which hub is meant and none runs on it: named on the
   * command line, or by the environment.
   */
  public Optional<Path> homeWithoutHub(Shell shell) {
    return homeAloneSays(shell)
        ? Optional.of(home.home(shell)).filter(folder -> HomeLock.isFree(folder, "hub"))
        : Optional.empty();
  }

  /** Whether a state folder is named, by option or environment, and no address. */
  private boolean homeAloneSays(Shell shell) {
    boolean byEnvironment =
        shell.variable("FLOTILLA_HUB").isEmpty() && shell.variable("FLOTILLA_HOME").isPresent();
    return hub == null && (home.isNamed() || byEnvironment);
  }

  /** The key of the option, else of the environment. */
  public Optional<String> key(Shell shell) {
    Optional<String> said = key != null ? Optional.of(key) : shell.variable("FLOTILLA_KEY");
    Optional<String> bare = said.map(String::strip);
    if (bare.isPresent()
        && (bare.get().isEmpty() || !bare.get().chars().allMatch(c -> c > ' ' && c < 0x7f))) {
      throw new WrongUsage(
          (key != null ? "--key" : "FLOTILLA_KEY") + ": that is no key; one looks like fl-…");
    }
    return bare;
  }

  /** A client of that hub; what can't be meant is said before where the hub is. */
  public HubClient client(Shell shell) {
    Optional<String> bearer = key(shell);
    Optional<Path> authority = ca();
    return new HubClient(address(shell), bearer, authority);
  }

  /** A client of the hub at another address. */
  public HubClient clientAt(URI address, Shell shell) {
    return new HubClient(address, key(shell), ca());
  }

  /** The authority's file, where one is named. */
  public Optional<Path> ca() {
    return Optional.ofNullable(ca).map(file -> NamedFile.readable("--ca", file));
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
      boolean web = scheme.equals("http") || scheme.equals("https");
      boolean port = uri.getPort() == -1 || (uri.getPort() > 0 && uri.getPort() <= 65_535);
      boolean bare =
          uri.getRawQuery() == null && uri.getRawFragment() == null && uri.getRawUserInfo() == null;
      if (web && port && bare && uri.getHost() != null) {
        return uri;
      }
    } catch (IllegalArgumentException e) {
      // Said below, as for every other text that is no address.
    }
    throw new WrongUsage(
        from
            + " is no address: '"
            + Text.printable(text)
            + "'; one looks like "
            + DEFAULT_HUB
            + " or https://…");
  }
}
