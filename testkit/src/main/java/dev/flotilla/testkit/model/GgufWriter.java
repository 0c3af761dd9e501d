package dev.flotilla.testkit.model;

import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes model files (GGUF, version 3, little-endian): right ones, and wrong ones for tests of
 * those who read. Tensors' bytes are made when they are written, so a file may be larger than the
 * heap.
 *
 * <p>Source of the layout: {@code ggml/include/gguf.h}.
 */
public final class GgufWriter {
  private static final int ALIGNMENT = 32;

  private final ByteArrayOutputStream keys = new ByteArrayOutputStream();
  private final ByteArrayOutputStream tensors = new ByteArrayOutputStream();
  private final List<Placed> contents = new ArrayList<>();
  private long keyCount;
  private long tensorCount;
  private long dataBytes;
  private int version = 3;

  /** The bytes of a tensor. */
  @FunctionalInterface
  public interface Content {
    void writeTo(OutputStream out) throws IOException;
  }

  private record Placed(long bytes, Content content) {}

  /** A llama of two layers with everything that the arithmetic asks for. */
  public static GgufWriter tinyLlama() {
    return new GgufWriter()
        .text("general.architecture", "llama")
        .text("general.name", "Tiny")
        .u32("general.file_type", 15)
        .u32("llama.block_count", 2)
        .u32("llama.context_length", 8192)
        .u32("llama.embedding_length", 64)
        .u32("llama.attention.head_count", 4)
        .u32("llama.attention.head_count_kv", 2)
        .text("tokenizer.ggml.model", "gpt2")
        .texts("tokenizer.ggml.tokens", List.of("a", "Ġthe", "<|endÀ|>"))
        .i32s("tokenizer.ggml.token_type", 1, 1, 3)
        .tensor("token_embd.weight", 0, 64, 3)
        .tensor("output.weight", 8, 64, 3);
  }

  public GgufWriter version(int version) {
    this.version = version;
    return this;
  }

  public GgufWriter text(String key, String value) {
    head(key, 8);
    string(keys, value);
    return this;
  }

  public GgufWriter u32(String key, int value) {
    head(key, 4);
    i32(keys, value);
    return this;
  }

  public GgufWriter u16(String key, int value) {
    head(key, 2);
    keys.writeBytes(little(2).putShort((short) value).array());
    return this;
  }

  public GgufWriter bool(String key, boolean value) {
    head(key, 7);
    keys.write(value ? 1 : 0);
    return this;
  }

  public GgufWriter f32(String key, float value) {
    head(key, 6);
    i32(keys, Float.floatToIntBits(value));
    return this;
  }

  public GgufWriter texts(String key, List<String> values) {
    head(key, 9);
    i32(keys, 8);
    i64(keys, values.size());
    values.forEach(value -> string(keys, value));
    return this;
  }

  public GgufWriter i32s(String key, int... values) {
    head(key, 9);
    i32(keys, 5);
    i64(keys, values.length);
    for (int value : values) {
      i32(keys, value);
    }
    return this;
  }

  public GgufWriter f32s(String key, float... values) {
    head(key, 9);
    i32(keys, 6);
    i64(keys, values.length);
    for (float value : values) {
      i32(keys, Float.floatToIntBits(value));
    }
    return this;
  }

  public GgufWriter bools(String key, boolean... values) {
    head(key, 9);
    i32(keys, 7);
    i64(keys, values.length);
    for (boolean value : values) {
      keys.write(value ? 1 : 0);
    }
    return this;
  }

  /** A key whose type and value bytes are what the caller says. */
  public GgufWriter raw(String key, int type, byte... value) {
    head(key, type);
    keys.writeBytes(value);
    return this;
  }

  /** A tensor of zeros; of a type that is not among {@link RandomBlocks}, a byte a number. */
  public GgufWriter tensor(String name, int type, long... dims) {
    long elements = 1;
    for (long dim : dims) {
      elements *= dim;
    }
    long count = elements;
    long bytes = RandomBlocks.of(type).map(known -> known.bytes(count)).orElse(count);
    return tensorOf(name, type, new byte[(int) bytes], dims);
  }

  public GgufWriter tensorOf(String name, int type, byte[] bytes, long... dims) {
    return tensorFrom(name, type, bytes.length, out -> out.write(bytes), dims);
  }

  /**
   * A tensor whose bytes are made when the file is written.
   *
   * @param bytes that {@code content} writes
   * @param dims elements per dimension, the fastest first: columns, rows
   */
  public GgufWriter tensorFrom(String name, int type, long bytes, Content content, long... dims) {
    tensorAt(name, type, dataBytes, dims);
    contents.add(new Placed(bytes, content));
    dataBytes += bytes + padding(bytes);
    return this;
  }

  /** A tensor that speaks of bytes which the caller sees to, or doesn't. */
  public GgufWriter tensorAt(String name, int type, long offset, long... dims) {
    tensorCount++;
    string(tensors, name);
    i32(tensors, dims.length);
    for (long dim : dims) {
      i64(tensors, dim);
    }
    i32(tensors, type);
    i64(tensors, offset);
    return this;
  }

  public byte[] bytes() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try {
      writeTo(out);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return out.toByteArray();
  }

  /** A header that speaks of other counts than it has. */
  public ByteArrayOutputStream header(long tensorsSaid, long keysSaid) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes("GGUF".getBytes(StandardCharsets.US_ASCII));
    i32(out, version);
    i64(out, tensorsSaid);
    i64(out, keysSaid);
    out.writeBytes(keys.toByteArray());
    out.writeBytes(tensors.toByteArray());
    return out;
  }

  public Path write(Path file) throws IOException {
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file), 1 << 16)) {
      writeTo(out);
    }
    return file;
  }

  private void writeTo(OutputStream out) throws IOException {
    byte[] header = header(tensorCount, keyCount).toByteArray();
    out.write(header);
    out.write(new byte[padding(header.length)]);
    for (Placed placed : contents) {
      placed.content().writeTo(out);
      out.write(new byte[padding(placed.bytes())]);
    }
  }

  private void head(String key, int type) {
    keyCount++;
    string(keys, key);
    i32(keys, type);
  }

  private static int padding(long bytes) {
    return (int) (Math.ceilDiv(bytes, ALIGNMENT) * ALIGNMENT - bytes);
  }

  private static void string(ByteArrayOutputStream out, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    i64(out, bytes.length);
    out.writeBytes(bytes);
  }

  private static void i32(ByteArrayOutputStream out, int value) {
    out.writeBytes(little(4).putInt(value).array());
  }

  private static void i64(ByteArrayOutputStream out, long value) {
    out.writeBytes(little(8).putLong(value).array());
  }

  private static ByteBuffer little(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }
}
