package dev.flotilla.agent.engine;

import dev.flotilla.agent.engine.EngineAdapter.ModelRefused;
import dev.flotilla.gguf.GgufHeader;
import dev.flotilla.gguf.GgufRefused;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import org.jspecify.annotations.Nullable;

/** Reads headers of model files, the last one only where its file has changed. Thread-safe. */
final class GgufHeaders {
  private volatile @Nullable Read lastRead;

  /** A header and the state of the file that it was read from. */
  private record Read(Path model, long size, FileTime modified, GgufHeader header) {}

  GgufHeader header(Path model) throws ModelRefused {
    try {
      long size = Files.size(model);
      FileTime modified = Files.getLastModifiedTime(model);
      Read read = lastRead;
      if (read != null
          && read.model.equals(model)
          && read.size == size
          && read.modified.equals(modified)) {
        return read.header;
      }
      GgufHeader header = GgufHeader.read(model);
      lastRead = new Read(model, size, modified, header);
      return header;
    } catch (GgufRefused e) {
      throw new ModelRefused(String.valueOf(e.getMessage()));
    } catch (IOException e) {
      throw new ModelRefused(model + ": the file can't be read or is gone: " + e.getMessage());
    }
  }

  /** Refuses a promise of more tokens than the model was made for. */
  static void checkContext(GgufHeader header, Path model, int contextTokens) throws ModelRefused {
    long trained = header.contextLength().orElse(Long.MAX_VALUE);
    if (contextTokens > trained) {
      throw new ModelRefused(
          "%s was made for a context of %,d tokens, and promise.context is %,d; promise at most that."
              .formatted(model, trained, contextTokens));
    }
  }
}
