package dev.flotilla.wire;

import java.io.IOException;
import java.io.OutputStream;
import org.jspecify.annotations.Nullable;

/** Reads what the relay must know of each chunk of a streamed reply, or of a whole reply. */
@SuppressWarnings("DoNotCallSuggester")
public final class ChunkScan {
  private final String publicModel;

  /**
   * @param publicModel the model's name as clients know it
   */
  public ChunkScan(String publicModel) {
    this.publicModel = publicModel;
  }

  /**
   * Scans one JSON object; the getters then speak of it.
   *
   * @return whether it is one JSON object and nothing else
   */
  public boolean scan(byte[] bytes, int start, int length) {
    throw new UnsupportedOperationException(publicModel + start + length + bytes.length);
  }

  /** Elements of {@code choices}; 0 where the field is absent or empty. */
  public int choices() {
    throw new UnsupportedOperationException();
  }

  /** Whether any choice has a {@code finish_reason} other than null. */
  public boolean finished() {
    throw new UnsupportedOperationException();
  }

  /** The top-level {@code error}, or null where there is none. */
  public @Nullable EngineError error() {
    throw new UnsupportedOperationException();
  }

  /** The top-level {@code usage}, or null where there is none. */
  public @Nullable TokenUsage usage() {
    throw new UnsupportedOperationException();
  }

  /** The top-level {@code timings}, or null where there is none. */
  public @Nullable EngineTimings timings() {
    throw new UnsupportedOperationException();
  }

  /** Whether the object names a model, and another one than the public name. */
  public boolean modelDiffers() {
    throw new UnsupportedOperationException();
  }

  /**
   * The scanned object with the public name: the same bytes where nothing differs.
   *
   * @param bytes what was scanned, whole
   */
  public byte[] withModel(byte[] bytes) {
    throw new UnsupportedOperationException();
  }

  /**
   * Writes an event whose data was just scanned, with the public name in it; byte for byte as it
   * came where the name is right or absent.
   */
  public void writeEvent(OutputStream out, SseReader event) throws IOException {
    throw new UnsupportedOperationException();
  }
}
