package dev.flotilla.gguf;

import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Models in several files, {@code NAME-00001-of-0000N.gguf}, as llama.cpp's {@code gguf-split}
 * writes them.
 */
final class Split {
  /** The name has five digits; so many parts are more than any real model has. */
  private static final int PARTS_MAX = 1000;

  private static final Pattern NAME = Pattern.compile("(?s)(.*)-(\\d{5})-of-(\\d{5})\\.gguf");

  private Split() {}

  /**
   * Where a file stands among the parts of its model.
   *
   * @param index from 0
   */
  record Place(Path path, String prefix, int index, int count) {
    Path part(int other) {
      return path.resolveSibling("%s-%05d-of-%05d.gguf".formatted(prefix, other + 1, count));
    }
  }

  /** The place that the header and the name agree on. */
  static Place place(Path path, Metadata metadata) throws GgufRefused {
    OptionalLong count = metadata.integer("split.count");
    if (count.isEmpty() || count.getAsLong() <= 1) {
      return new Place(path, "", 0, 1);
    }
    long parts = count.getAsLong();
    if (parts > PARTS_MAX) {
      throw new GgufRefused(
          path, "speaks of %,d parts, at most %,d are read".formatted(parts, PARTS_MAX));
    }
    Matcher name = NAME.matcher(String.valueOf(path.getFileName()));
    long index = metadata.integer("split.no").orElse(-1);
    if (!name.matches()
        || Integer.parseInt(name.group(2)) != index + 1
        || Integer.parseInt(name.group(3)) != parts) {
      throw new GgufRefused(
          path,
          "is part %d of %d, so its name must end in -%05d-of-%05d.gguf for the other parts to be found"
              .formatted(index + 1, parts, index + 1, parts));
    }
    return new Place(path, name.group(1), (int) index, (int) parts);
  }

  /** Checks that a file is the part that its name says. */
  static void checkFollows(Path path, Metadata metadata, int index, int count) throws GgufRefused {
    if (metadata.integer("split.no").orElse(-1) != index
        || metadata.integer("split.count").orElse(-1) != count) {
      throw new GgufRefused(
          path, "should be part %d of %d and says otherwise".formatted(index + 1, count));
    }
  }
}
