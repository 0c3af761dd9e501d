package dev.flotilla.gguf;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;

/**
 * What a model file says of itself, read without reading its weights.
 *
 * <p>A file is input from outside: every count, length and offset in it is compared with the file's
 * size and with a limit before anything is allocated, and whatever does not fit is a {@link
 * GgufRefused}. A header that this class returns belongs to a file that holds all the bytes that it
 * speaks of, in all its parts.
 *
 * <p>Source of the layout: {@code ggml/include/gguf.h}, versions 2 and 3, little-endian.
 *
 * @param file the file, of a split model the first one
 * @param files all parts, in order
 * @param metadata keys and values of the first part
 * @param tensors the tensors of all parts
 * @param longestTokenBytes upper bound of the bytes of text that one token of the vocabulary stands
 *     for; 0 where that is unknown, because there is no vocabulary or its tokenizer may swallow
 *     text
 * @param fileBytes size of all parts together
 */
public record GgufHeader(
    Path file,
    List<Path> files,
    int version,
    Metadata metadata,
    List<TensorInfo> tensors,
    int longestTokenBytes,
    long fileBytes) {

  public GgufHeader {
    files = List.copyOf(files);
    tensors = List.copyOf(tensors);
  }

  /**
   * Reads the header of a model file, and of the other parts where it is split ({@code
   * NAME-00001-of-0000N.gguf}).
   *
   * @throws GgufRefused with the reason, for anything else than a whole model file
   */
  public static GgufHeader read(Path path) throws GgufRefused {
    HeaderReader.Part first = HeaderReader.read(path);
    Split.Place place = Split.place(path, first.metadata());
    if (place.count() == 1) {
      return first.header(List.of(path), first.tensors(), first.fileBytes());
    }
    if (place.index() != 0) {
      throw new GgufRefused(
          path,
          "is part %d of %d; name the first part, %s"
              .formatted(place.index() + 1, place.count(), place.part(0).getFileName()));
    }
    List<Path> files = new ArrayList<>(List.of(path));
    List<TensorInfo> tensors = new ArrayList<>(first.tensors());
    long bytes = first.fileBytes();
    for (int index = 1; index < place.count(); index++) {
      Path file = place.part(index);
      HeaderReader.Part part = HeaderReader.read(file);
      Split.checkFollows(file, part.metadata(), index, place.count());
      files.add(file);
      int number = index;
      part.tensors().forEach(tensor -> tensors.add(tensor.inPart(number)));
      bytes += part.fileBytes();
    }
    checkNames(path, tensors);
    OptionalLong promised = first.metadata().integer("split.tensors.count");
    if (promised.isPresent() && promised.getAsLong() != tensors.size()) {
      throw new GgufRefused(
          path,
          "its %d parts hold %,d tensors, the first speaks of %,d"
              .formatted(place.count(), tensors.size(), promised.getAsLong()));
    }
    return first.header(files, tensors, bytes);
  }

  private static void checkNames(Path path, List<TensorInfo> tensors) throws GgufRefused {
    Set<String> names = new HashSet<>();
    for (TensorInfo tensor : tensors) {
      if (!names.add(tensor.name())) {
        throw new GgufRefused(
            path,
            "has the tensor '%s' in two parts".formatted(GgufRefused.printable(tensor.name())));
      }
    }
  }

  /**
   * The architecture's word, which must be one of those that the caller knows.
   *
   * @throws GgufRefused with its name where it is another
   */
  public String architecture(List<String> known) throws GgufRefused {
    String architecture = architecture();
    if (!known.contains(architecture)) {
      throw new GgufRefused(
          file,
          architecture.isEmpty()
              ? "names no architecture"
              : "has the architecture '%s'; known are %s"
                  .formatted(GgufRefused.printable(architecture), String.join(", ", known)));
    }
    return architecture;
  }

  /** The architecture's word, such as {@code llama}; empty where the file names none. */
  public String architecture() {
    return metadata.text("general.architecture").orElse("");
  }

  /** The model's own name, empty where it has none. */
  public String name() {
    return metadata.text("general.name").orElse("");
  }

  /** Tokens that the model was trained for. */
  public OptionalLong contextLength() {
    return integer("context_length");
  }

  /** The quantisation in words, such as {@code Q4_K_M}; empty where the file does not say. */
  public String fileType() {
    OptionalLong type = metadata.integer("general.file_type");
    return type.isPresent() ? FileType.word(type.getAsLong()) : "";
  }

  /**
   * An array of texts, such as {@code tokenizer.ggml.tokens}, read from the file anew; empty where
   * there is none.
   *
   * @throws GgufRefused where the key holds something else, or the file has changed meanwhile
   */
  public StringTable texts(String key) throws GgufRefused {
    return ArrayReader.texts(this, key);
  }

  /** An array of floats, such as {@code tokenizer.ggml.scores}, as {@link #texts}. */
  public float[] floats(String key) throws GgufRefused {
    return ArrayReader.floats(this, key);
  }

  /** An array of whole numbers such as {@code tokenizer.ggml.token_type}, as {@link #texts}. */
  public int[] ints(String key) throws GgufRefused {
    return ArrayReader.ints(this, key);
  }

  /** A whole number of the architecture, {@code ARCHITECTURE.key} in the file. */
  OptionalLong integer(String key) {
    return metadata.integer(architecture() + "." + key);
  }
}
