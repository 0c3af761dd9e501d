package dev.flotilla.gguf.tensor;

import com.google.errorprone.annotations.MustBeClosed;
import dev.flotilla.gguf.GgufHeader;
import dev.flotilla.gguf.GgufRefused;
import dev.flotilla.gguf.TensorInfo;
import dev.flotilla.gguf.TensorType;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The tensors of a model, all parts of it, mapped read-only: nothing is read before it is looked
 * at, and what was read the system can forget again.
 *
 * <p>Invariants: each tensor's segment lies within its file as that was when it was mapped; its
 * type is one that {@link Dequantizer} knows; its rows are whole blocks.
 *
 * <p>Life: from {@link #of} to {@link #close}, after which no segment can be read any more; closing
 * while another thread reads fails in that thread and in this, so the owner closes when all that
 * read have ended. Any thread may read. A file that another process cuts short while it is mapped
 * makes reading it fail with an {@link InternalError}: model files are replaced by renaming, never
 * written in place.
 */
public final class MappedTensors implements AutoCloseable {
  private final Arena arena;
  private final Map<String, Tensor> tensors;

  private MappedTensors(Arena arena, Map<String, Tensor> tensors) {
    this.arena = arena;
    this.tensors = Collections.unmodifiableMap(tensors);
  }

  /**
   * Maps the tensors of a model whose header was read.
   *
   * @throws GgufRefused where a tensor is of a type that can't be read, by its name, or a file is
   *     no longer what its header was read from
   */
  @MustBeClosed
  @SuppressWarnings("MustBeClosedChecker") // with this object, or below where there is none
  public static MappedTensors of(GgufHeader header) throws GgufRefused {
    Arena arena = Arena.ofShared();
    boolean mapped = false;
    try {
      List<MemorySegment> files = new ArrayList<>();
      for (Path file : header.files()) {
        files.add(map(file, arena));
      }
      Map<String, Tensor> tensors = LinkedHashMap.newLinkedHashMap(header.tensors().size());
      for (TensorInfo info : header.tensors()) {
        Path file = header.files().get(info.part());
        tensors.put(info.name(), tensor(info, file, files.get(info.part())));
      }
      mapped = true;
      return new MappedTensors(arena, tensors);
    } finally {
      if (!mapped) {
        arena.close();
      }
    }
  }

  private static MemorySegment map(Path file, Arena arena) throws GgufRefused {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      return channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
    } catch (IOException e) {
      throw new GgufRefused(
          file,
          "can't be mapped into memory: " + GgufRefused.printable(String.valueOf(e.getMessage())));
    }
  }

  private static Tensor tensor(TensorInfo info, Path file, MemorySegment mapped)
      throws GgufRefused {
    Optional<TensorType> type = TensorType.of(info.typeId());
    if (type.isEmpty() || !Dequantizer.reads(type.get())) {
      throw new GgufRefused(
          file,
          "the tensor '%s' is stored as %s, which can't be read here"
              .formatted(
                  GgufRefused.printable(info.name()),
                  type.map(TensorType::name).orElse("the unknown type " + info.typeId())));
    }
    if (info.position() + info.bytes() > mapped.byteSize()) {
      throw new GgufRefused(
          file, "has become shorter since its header was read; is it being written?");
    }
    return new Tensor(
        info.name(), type.get(), info.dims(), mapped.asSlice(info.position(), info.bytes()));
  }

  /** The tensor of that name, empty where there is none. */
  public Optional<Tensor> find(String name) {
    return Optional.ofNullable(tensors.get(name));
  }

  /** All tensors, in the order of the files. */
  public Collection<Tensor> all() {
    return tensors.values();
  }

  /** Ends the mapping. */
  @Override
  public void close() {
    arena.close();
  }
}
