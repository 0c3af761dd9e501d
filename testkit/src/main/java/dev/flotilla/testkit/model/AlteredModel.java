package dev.flotilla.testkit.model;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * A GGUF file that was spoilt in a way that loading it does not show: every size, name and type is
 * as it was. Each seed spoils it in another way.
 */
public final class AlteredModel {
  private static final int ALIGNMENT = 32;
  private static final int STRING = 8;
  private static final int ARRAY = 9;
  private static final int[] SCALAR_BYTES = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

  /** Bytes of a block by the type's number, as far as this model has them. */
  private static final Map<Integer, int[]> BLOCKS =
      Map.of(
          0, new int[] {1, 4},
          1, new int[] {1, 2},
          2, new int[] {32, 18},
          3, new int[] {32, 20},
          8, new int[] {32, 34},
          14, new int[] {256, 210});

  private record Tensor(String name, int type, int dimensions, long elements, long offset) {
    long bytes() {
      return elements / block()[0] * block()[1];
    }

    int[] block() {
      int[] block = BLOCKS.get(type);
      if (block == null) {
        throw new IllegalStateException("tensor type " + type + " of " + name);
      }
      return block;
    }
  }

  private final ByteBuffer file;
  private final Map<String, Tensor> tensors = new LinkedHashMap<>();
  private int tokensAt;
  private int tokens;
  private int dataAt;

  private AlteredModel(Path gguf) throws IOException {
    file = ByteBuffer.wrap(Files.readAllBytes(gguf)).order(ByteOrder.LITTLE_ENDIAN);
    file.position(8);
    long tensorCount = file.getLong();
    long keys = file.getLong();
    for (long i = 0; i < keys; i++) {
      String key = string();
      int type = file.getInt();
      if (key.equals("tokenizer.ggml.tokens")) {
        file.getInt();
        tokens = (int) file.getLong();
        tokensAt = file.position();
        for (int token = 0; token < tokens; token++) {
          string();
        }
      } else {
        skip(type);
      }
    }
    for (long i = 0; i < tensorCount; i++) {
      String name = string();
      int dimensions = file.getInt();
      long elements = 1;
      for (int d = 0; d < dimensions; d++) {
        elements *= file.getLong();
      }
      tensors.put(name, new Tensor(name, file.getInt(), dimensions, elements, file.getLong()));
    }
    dataAt = Math.ceilDiv(file.position(), ALIGNMENT) * ALIGNMENT;
  }

  /** Every matrix's blocks in another order: what comes out is soup. */
  public static Path soup(Path gguf, Path to, long seed) throws IOException {
    AlteredModel model = new AlteredModel(gguf);
    Random random = new Random(seed);
    for (Tensor tensor : model.tensors.values()) {
      if (tensor.name().startsWith("blk.") && tensor.dimensions() > 1) {
        model.shuffleBlocks(tensor, random);
      }
    }
    return model.write(to);
  }

  /**
   * Weights that are not this model's: for even seeds its layers in another order, each of them
   * sound; for odd ones a fifth of its layers with their last matrix spoilt, the rest as it was.
   */
  public static Path wrongWeights(Path gguf, Path to, long seed) throws IOException {
    AlteredModel model = new AlteredModel(gguf);
    Random random = new Random(seed);
    if (seed % 2 == 0) {
      model.shuffleLayers(random);
    } else {
      List<Integer> layers = model.layers();
      Collections.shuffle(layers, random);
      for (int layer : layers.subList(0, Math.ceilDiv(layers.size(), 5))) {
        model.shuffleBlocks(model.tensor("blk." + layer + ".ffn_down.weight"), random);
      }
    }
    return model.write(to);
  }

  private Tensor tensor(String name) {
    Tensor tensor = tensors.get(name);
    if (tensor == null) {
      throw new IllegalStateException("the file has no " + name);
    }
    return tensor;
  }

  private List<Integer> layers() {
    List<Integer> layers = new ArrayList<>();
    for (int i = 0; tensors.containsKey("blk." + i + ".attn_q.weight"); i++) {
      layers.add(i);
    }
    return layers;
  }

  private void shuffleLayers(Random random) {
    List<Integer> layers = layers();
    List<Integer> order = new ArrayList<>(layers);
    Collections.shuffle(order, random);
    byte[] before = file.array().clone();
    for (int layer : layers) {
      for (Tensor into : tensors.values()) {
        String prefix = "blk." + layer + ".";
        if (into.name().startsWith(prefix)) {
          Tensor from =
              tensors.get("blk." + order.get(layer) + "." + into.name().substring(prefix.length()));
          if (from != null && from.type() == into.type()) {
            System.arraycopy(
                before,
                (int) (dataAt + from.offset()),
                file.array(),
                (int) (dataAt + into.offset()),
                (int) into.bytes());
          }
        }
      }
    }
  }

  /** The vocabulary's words under other numbers. */
  public static Path wrongTokenizer(Path gguf, Path to, long seed) throws IOException {
    AlteredModel model = new AlteredModel(gguf);
    Random random = new Random(seed);
    model.file.position(model.tokensAt);
    List<byte[]> words = new ArrayList<>();
    for (int i = 0; i < model.tokens; i++) {
      byte[] word = new byte[(int) model.file.getLong()];
      model.file.get(word);
      words.add(word);
    }
    // The marks at the beginning and the bytes stay: without them no text can be cut at all.
    List<byte[]> moved = words.subList(300, words.size());
    Collections.shuffle(moved, random);
    model.file.position(model.tokensAt);
    for (byte[] word : words) {
      model.file.putLong(word.length);
      model.file.put(word);
    }
    return model.write(to);
  }

  private void shuffleBlocks(Tensor tensor, Random random) {
    int size = tensor.block()[1];
    int count = (int) (tensor.bytes() / size);
    byte[] one = new byte[size];
    byte[] bytes = file.array();
    int at = (int) (dataAt + tensor.offset());
    for (int i = count - 1; i > 0; i--) {
      int j = random.nextInt(i + 1);
      System.arraycopy(bytes, at + i * size, one, 0, size);
      System.arraycopy(bytes, at + j * size, bytes, at + i * size, size);
      System.arraycopy(one, 0, bytes, at + j * size, size);
    }
  }

  private Path write(Path to) throws IOException {
    return Files.write(to, file.array());
  }

  private String string() {
    byte[] bytes = new byte[(int) file.getLong()];
    file.get(bytes);
    return new String(bytes, UTF_8);
  }

  private void skip(int type) {
    if (type == STRING) {
      string();
    } else if (type == ARRAY) {
      int of = file.getInt();
      long count = file.getLong();
      for (long i = 0; i < count; i++) {
        skip(of);
      }
    } else {
      file.position(file.position() + SCALAR_BYTES[type]);
    }
  }
}
