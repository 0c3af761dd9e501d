package dev.flotilla.hub.spec;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The form of a model's source, as far as it can be judged without the machine that will fetch it:
 * the agent reads the reference again, by its own rules and its own policy.
 */
final class SourceReference {

  private static final String FORMS =
      "a source is `/path/on/the/node`, `hf:OWNER/REPO/FILE`, `https://HOST/FILE` or `pip:NAME==VERSION/FILE`";
  private static final Pattern PINNED = Pattern.compile("[A-Za-z0-9._-]+==[A-Za-z0-9._+!-]+");

  private SourceReference() {}

  /**
   * What is wrong with the reference, or nothing.
   *
   * @param folder whether the engine reads a folder, not a file
   */
  static Optional<String> problem(String reference, boolean folder) {
    if (folder && !reference.startsWith("/")) {
      String form = "`/folder/on/the/node` or `hf:OWNER/REPO`";
      return reference.startsWith("hf:") && reference.split("/", -1).length == 2
          ? segments(reference.substring(3), 2, "`hf:OWNER/REPO`")
          : Optional.of(
              "%s is none: this engine reads a folder, %s"
                  .formatted(Problems.shown(reference), form));
    }
    if (reference.startsWith("hf:")) {
      return segments(reference.substring(3), 3, "`hf:OWNER/REPO/FILE`");
    }
    if (reference.startsWith("pip:")) {
      String rest = reference.substring(4);
      return PINNED.matcher(rest.split("/", 2)[0]).matches()
          ? segments(rest, 2, "`pip:NAME==VERSION/FILE`")
          : Optional.of(
              "%s must pin one version: `pip:NAME==VERSION/FILE`"
                  .formatted(Problems.shown(reference)));
    }
    if (reference.startsWith("http:") || reference.startsWith("https:")) {
      return address(reference);
    }
    if (!reference.startsWith("/")) {
      return Optional.of("%s is none: %s".formatted(Problems.shown(reference), FORMS));
    }
    return List.of(reference.split("/", -1)).contains("..")
        ? Optional.of("a path holds no `..`: " + Problems.shown(reference))
        : Optional.empty();
  }

  private static Optional<String> segments(String path, int least, String form) {
    String[] parts = path.split("/", -1);
    boolean whole =
        parts.length >= least
            && Arrays.stream(parts).noneMatch(part -> part.isBlank() || part.startsWith("."));
    return whole
        ? Optional.empty()
        : Optional.of("%s is not of the form %s".formatted(Problems.shown(path), form));
  }

  private static Optional<String> address(String reference) {
    try {
      URI address = new URI(reference);
      if (address.getHost() != null && address.getRawUserInfo() == null) {
        return Optional.empty();
      }
    } catch (URISyntaxException e) {
      // What the parser says of a broken address adds nothing to the sentence below.
    }
    return Optional.of(
        "%s is not an address of the form `https://HOST/FILE`"
            .formatted(Problems.shown(reference)));
  }
}
