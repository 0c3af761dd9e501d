package dev.flotilla.agent.models;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Where a model's weights are, read from the reference that a person or the hub wrote.
 *
 * <p>References come from outside, so reading is strict: what is not surely one of the four forms
 * is refused, and nothing of a reference that is accepted can lead out of the store's folder when
 * it becomes a file name.
 */
public sealed interface ModelSource {

  /** Longest reference that is read, in characters. */
  int REFERENCE_CHARACTERS_MAX = 2048;

  /** Longest single name within a reference; leaves room for the store's own endings. */
  int NAME_CHARACTERS_MAX = 180;

  /** A file that is on this machine already; used where it lies. */
  record LocalFile(Path path) implements ModelSource {}

  /** A file of a Hugging Face repository, at its main revision. */
  record HuggingFace(String owner, String repo, List<String> file) implements ModelSource {
    public HuggingFace {
      file = List.copyOf(file);
    }
  }

  /** A whole Hugging Face repository, at its main revision: the files that an engine reads. */
  record HuggingFaceFolder(String owner, String repo) implements ModelSource {}

  /** A file behind a plain address. */
  record Web(URI address) implements ModelSource {}

  /** A file inside a Python package's wheel. */
  record Wheel(String name, String version, List<String> member) implements ModelSource {
    public Wheel {
      member = List.copyOf(member);
    }
  }

  /**
   * Reads a reference: a path, {@code hf:OWNER/REPO/FILE}, {@code hf:OWNER/REPO}, {@code https://…}
   * or {@code pip:NAME==VERSION/FILE}.
   *
   * @throws SourceRefused where it is none of them, or could mean something else than it shows
   */
  static ModelSource parse(String reference) throws SourceRefused {
    if (reference.isBlank()) {
      throw new SourceRefused("The model reference is empty; " + References.FORMS + ".");
    }
    if (reference.length() > REFERENCE_CHARACTERS_MAX) {
      throw new SourceRefused(
          "The model reference has "
              + reference.length()
              + " characters; the limit is "
              + REFERENCE_CHARACTERS_MAX
              + ".");
    }
    for (int i = 0; i < reference.length(); i++) {
      if (Character.isISOControl(reference.charAt(i))) {
        throw new SourceRefused(
            "The model reference " + shown(reference) + " holds a control character at " + i + ".");
      }
    }
    if (reference.startsWith("hf:")) {
      return References.huggingFace(reference);
    }
    if (reference.startsWith("pip:")) {
      return References.wheel(reference);
    }
    if (reference.startsWith("https:") || reference.startsWith("http:")) {
      return References.web(reference);
    }
    return References.local(reference);
  }

  /** The reference as it may be put into a message: short, one line, printable. */
  static String shown(String reference) {
    StringBuilder text = new StringBuilder("'");
    for (int i = 0; i < Math.min(reference.length(), 120); i++) {
      char c = reference.charAt(i);
      text.append(Character.isISOControl(c) ? '?' : c);
    }
    return text.append(reference.length() > 120 ? "…'" : "'").toString();
  }

  /** The reading of each form. */
  final class References {
    static final String FORMS =
        "it is a path, hf:OWNER/REPO/FILE, https://HOST/FILE or pip:NAME==VERSION/FILE";

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]*");
    private static final Pattern VERSION = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._+!-]*");
    private static final Pattern SEGMENT = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9._+@ ()-]*");
    private static final Pattern SCHEME = Pattern.compile("[A-Za-z][A-Za-z0-9+-]+:.*");

    private References() {}

    private static ModelSource huggingFace(String reference) throws SourceRefused {
      List<String> parts = List.of(reference.substring("hf:".length()).split("/", -1));
      if (parts.size() < 2) {
        throw new SourceRefused(
            "The model reference "
                + shown(reference)
                + " names no repository; write hf:OWNER/REPO/FILE, such as hf:owner/repo/model.gguf,"
                + " or hf:OWNER/REPO for a folder.");
      }
      name(reference, parts.get(0), NAME);
      name(reference, parts.get(1), NAME);
      if (parts.size() == 2) {
        return new HuggingFaceFolder(parts.get(0), parts.get(1));
      }
      List<String> file = parts.subList(2, parts.size());
      for (String segment : file) {
        name(reference, segment, SEGMENT);
      }
      return new HuggingFace(parts.get(0), parts.get(1), file);
    }

    private static Wheel wheel(String reference) throws SourceRefused {
      List<String> parts = List.of(reference.substring("pip:".length()).split("/", -1));
      String[] pinned = parts.getFirst().split("==", -1);
      if (pinned.length != 2 || parts.size() < 2) {
        throw new SourceRefused(
            "The model reference "
                + shown(reference)
                + " is not pip:NAME==VERSION/FILE: it must pin one version and name a file in the"
                + " wheel.");
      }
      name(reference, pinned[0], NAME);
      name(reference, pinned[1], VERSION);
      List<String> member = parts.subList(1, parts.size());
      for (String segment : member) {
        name(reference, segment, SEGMENT);
      }
      return new Wheel(pinned[0], pinned[1], member);
    }

    private static Web web(String reference) throws SourceRefused {
      URI address;
      try {
        address = new URI(reference);
      } catch (URISyntaxException e) {
        throw new SourceRefused(
            "The model reference " + shown(reference) + " is not an address: " + e.getReason());
      }
      String refusal = WebAddress.refusal(address);
      if (!refusal.isEmpty()) {
        throw new SourceRefused("The model reference " + shown(reference) + " " + refusal);
      }
      if (address.getRawFragment() != null) {
        throw new SourceRefused(
            "The model reference " + shown(reference) + " has a fragment, which no server sees.");
      }
      return new Web(address);
    }

    private static LocalFile local(String reference) throws SourceRefused {
      if (SCHEME.matcher(reference).matches()) {
        throw new SourceRefused(
            "The model reference "
                + shown(reference)
                + " has an unknown scheme '"
                + reference.substring(0, reference.indexOf(':')).toLowerCase(Locale.ROOT)
                + ":'; "
                + FORMS
                + ".");
      }
      Path path;
      try {
        path = Path.of(reference);
      } catch (InvalidPathException e) {
        throw new SourceRefused(
            "The model reference " + shown(reference) + " is no path here: " + e.getReason() + ".");
      }
      for (Path segment : path) {
        if (segment.toString().equals("..")) {
          throw new SourceRefused(
              "The model reference "
                  + shown(reference)
                  + " climbs with '..'; write the path without it.");
        }
      }
      return new LocalFile(path.toAbsolutePath().normalize());
    }

    private static void name(String reference, String name, Pattern form) throws SourceRefused {
      if (name.length() > NAME_CHARACTERS_MAX) {
        throw new SourceRefused(
            "The model reference "
                + shown(reference)
                + " has a name of "
                + name.length()
                + " characters; the limit is "
                + NAME_CHARACTERS_MAX
                + ".");
      }
      if (!form.matcher(name).matches() || name.contains("..") || name.endsWith(" ")) {
        throw new SourceRefused(
            "The model reference "
                + shown(reference)
                + " has the name "
                + shown(name)
                + ", which can't be a file name here.");
      }
    }
  }
}
