package dev.flotilla.gguf;

import java.util.List;

/**
 * One tensor as the header describes it.
 *
 * @param dims elements per dimension, the fastest first; one to four
 * @param typeId the storage type's number, see {@link TensorType#of}
 * @param part the file of a split model that it is in, from 0
 * @param position of its first byte in that file
 * @param bytes what it takes in the file; for a type that is not known, the room up to the next
 *     tensor
 */
public record TensorInfo(
    String name, List<Long> dims, int typeId, int part, long position, long bytes) {
  public TensorInfo {
    dims = List.copyOf(dims);
  }

  TensorInfo inPart(int index) {
    return new TensorInfo(name, dims, typeId, index, position, bytes);
  }
}
