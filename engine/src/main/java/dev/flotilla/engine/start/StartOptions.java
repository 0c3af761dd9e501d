package dev.flotilla.engine.start;

import dev.flotilla.engine.model.KvType;
import dev.flotilla.engine.serve.ServeSettings;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What is to be served, and how.
 *
 * @param model a GGUF file, of a split one the first part
 * @param name what clients call it
 * @param template a chat template in place of the file's own
 * @param context tokens of one request; empty for as many as the model was made for, at most {@link
 *     #CONTEXT_DEFAULT}
 * @param slots requests that run at once
 * @param threads that compute; empty for one on each core
 * @param build what the engine says of its build
 */
public record StartOptions(
    Path model,
    String name,
    Optional<Path> template,
    OptionalInt context,
    int slots,
    OptionalInt threads,
    Budget budget,
    KvType kvType,
    ServeSettings settings,
    String build) {
  public static final int CONTEXT_DEFAULT = 4096;
  public static final int SLOTS_DEFAULT = 8;
  public static final int SLOTS_MAX = 256;
  public static final int THREADS_MAX = 256;
}
