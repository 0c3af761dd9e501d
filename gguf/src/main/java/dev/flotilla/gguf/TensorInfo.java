package dev.flotilla.gguf;

import java.util.List;

/**
 * One tensor as the header describes it.
 *
 * @param dims elements per dimension, the fastest first; one to four
 * @param typeId the storage type's number, see {@link TensorType#of}
 * @param bytes what it takes in the file; for a type that is not known, the room up to the next
 *     tensor
 */
public record TensorInfo(String name, List<Long> dims, int typeId, long bytes) {
  public TensorInfo {
    dims = List.copyOf(dims);
  }
}
