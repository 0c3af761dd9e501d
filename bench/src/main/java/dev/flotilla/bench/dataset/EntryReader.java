package dev.flotilla.bench.dataset;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.exc.StreamReadException;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reads a file of JSON objects, one a line (JSONL) or in one array, in a stream: at most one entry
 * is in memory at once, and each has its limits. Whatever is wrong is told with the file, the line
 * and the reason. UTF-8 only, without a byte order mark; names within an object are unique.
 */
final class EntryReader {
  private final Path file;
  private final DatasetLimits limits;
  private final JsonFactory factory;
  private final JsonMapper mapper;

  EntryReader(Path file, DatasetLimits limits) {
    this.file = file;
    this.limits = limits;
    this.factory =
        JsonFactory.builder()
            .disable(TokenStreamFactory.Feature.CHARSET_DETECTION)
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .streamReadConstraints(
                StreamReadConstraints.builder()
                    .maxNestingDepth(limits.depthMax())
                    .maxStringLength(limits.entryBytesMax())
                    .build())
            .build();
    this.mapper =
        JsonMapper.builder(factory).disable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build();
  }

  /** Takes one entry after the other. */
  @FunctionalInterface
  interface Taker {
    /**
     * Takes one.
     *
     * @param line where it begins
     * @return whether more are wanted
     * @throws Bad where it can't be used
     */
    boolean take(int line, JsonNode entry) throws Bad;
  }

  /** What is wrong with an entry, without its place. */
  static final class Bad extends Exception {
    private static final long serialVersionUID = 1L;

    private final String reason;

    Bad(String reason) {
      super(reason, null, false, false);
      this.reason = reason;
    }

    String reason() {
      return reason;
    }
  }

  /**
   * Hands out the entries in their order.
   *
   * @throws DatasetRefused at the first that is broken, or where there is no such file
   */
  void read(Taker taker) throws DatasetRefused {
    if (file.toString().isEmpty() || !Files.exists(file)) {
      throw DatasetRefused.usage("--dataset-path: there is no file " + file);
    }
    if (Files.isDirectory(file)) {
      throw DatasetRefused.usage("--dataset-path: " + file + " is a folder, not a file");
    }
    if (!Files.isReadable(file)) {
      throw DatasetRefused.usage("--dataset-path: no permission to read " + file);
    }
    try (InputStream in = new BufferedInputStream(Files.newInputStream(file), 64 << 10)) {
      read(in, taker);
    } catch (IOException e) {
      throw DatasetRefused.failed(file + " can't be read: " + e.getMessage(), e);
    }
  }

  /**
   * As {@link #read(Taker)}, of a text that is there; the file's name only says where it is from.
   */
  void read(String text, Taker taker) throws DatasetRefused {
    try {
      read(new ByteArrayInputStream(text.getBytes(UTF_8)), taker);
    } catch (IOException e) {
      throw new IllegalStateException("memory can't be read", e);
    }
  }

  private void read(InputStream in, Taker taker) throws IOException, DatasetRefused {
    in.mark(limits.entryBytesMax());
    int first = in.read();
    int line = 1;
    while (first == ' ' || first == '\t' || first == '\r' || first == '\n') {
      line += first == '\n' ? 1 : 0;
      first = in.read();
    }
    switch (first) {
      case -1 -> throw DatasetRefused.failed(file + " is empty");
      case '[', '{' -> {
        in.reset();
        if (first == '[') {
          array(in, taker);
        } else {
          lines(in, taker);
        }
      }
      case 0xEF, 0xFE, 0xFF ->
          throw at(
              line,
              "it begins with a byte order mark or is no UTF-8; save it as UTF-8 without a mark");
      default ->
          throw at(line, "neither a JSON object a line (JSONL) nor a JSON array begins here");
    }
  }

  private void lines(InputStream in, Taker taker) throws IOException, DatasetRefused {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(8 << 10);
    int number = 0;
    for (boolean more = true; more; ) {
      number++;
      bytes.reset();
      int next = in.read();
      while (next >= 0 && next != '\n') {
        if (bytes.size() == limits.entryBytesMax()) {
          throw tooLong(number);
        }
        bytes.write(next);
        next = in.read();
      }
      more = next >= 0;
      byte[] line = bytes.toByteArray();
      if (!isBlank(line)) {
        more &= taken(taker, number, entry(line, number));
      }
    }
  }

  private static boolean isBlank(byte[] line) {
    for (byte each : line) {
      if (each != ' ' && each != '\t' && each != '\r') {
        return false;
      }
    }
    return true;
  }

  private JsonNode entry(byte[] line, int number) throws DatasetRefused {
    try (JsonParser parser = factory.createParser(ObjectReadContext.empty(), line)) {
      JsonNode entry = mapper.readTree(parser);
      if (parser.nextToken() != null) {
        throw at(number, "more than one JSON object stands in the line");
      }
      return entry;
    } catch (StreamReadException e) {
      throw at(number, reason(e));
    } catch (JacksonException e) {
      throw at(number, e.getOriginalMessage());
    }
  }

  private void array(InputStream in, Taker taker) throws DatasetRefused {
    Metered metered = new Metered(in);
    int line = 1;
    try (JsonParser parser = factory.createParser(ObjectReadContext.empty(), metered)) {
      parser.nextToken();
      for (JsonToken token = parser.nextToken(); token != JsonToken.END_ARRAY; ) {
        if (token == null) {
          throw at(line, "the array is not closed");
        }
        line = parser.currentTokenLocation().getLineNr();
        metered.entryBytes = 0;
        if (!taken(taker, line, mapper.readTree(parser))) {
          return;
        }
        line = parser.currentLocation().getLineNr();
        token = parser.nextToken();
      }
      if (parser.nextToken() != null) {
        throw at(parser.currentTokenLocation().getLineNr(), "something follows the array");
      }
    } catch (StreamReadException e) {
      throw at(Math.max(line, lineOf(e)), reason(e));
    } catch (JacksonException e) {
      throw e.getCause() instanceof EntryTooLong
          ? tooLong(line)
          : DatasetRefused.failed(file + " can't be read: " + e.getOriginalMessage(), e);
    }
  }

  private boolean taken(Taker taker, int line, JsonNode entry) throws DatasetRefused {
    try {
      if (!entry.isObject()) {
        throw new Bad("an entry is a JSON object");
      }
      return taker.take(line, entry);
    } catch (Bad e) {
      throw at(line, e.reason());
    }
  }

  private DatasetRefused tooLong(int line) {
    return at(line, "the entry is longer than " + (limits.entryBytesMax() >> 20) + " MiB");
  }

  private DatasetRefused at(int line, String reason) {
    return DatasetRefused.failed(file + " line " + line + ": " + reason);
  }

  private static int lineOf(StreamReadException e) {
    TokenStreamLocation location = e.getLocation();
    return location == null ? 0 : location.getLineNr();
  }

  /** The parser's words, with the column. */
  private static String reason(StreamReadException e) {
    String message = e.getOriginalMessage();
    int end = message.indexOf('\n');
    String line = end < 0 ? message : message.substring(0, end);
    // The parser adds where its own source began, which says nothing to whoever wrote the file.
    int aside = line.indexOf(" (start marker at");
    String first = aside < 0 ? line : line.substring(0, aside);
    TokenStreamLocation location = e.getLocation();
    return location == null ? first : "at column " + location.getColumnNr() + ": " + first;
  }

  private static final class EntryTooLong extends IOException {
    private static final long serialVersionUID = 1L;
  }

  /** Counts what is read of an entry, so that none fills the memory. */
  private final class Metered extends FilterInputStream {
    private long entryBytes;

    Metered(InputStream in) {
      super(in);
    }

    @Override
    public int read() throws IOException {
      int next = super.read();
      count(next < 0 ? 0 : 1);
      return next;
    }

    @Override
    public int read(byte[] bytes, int from, int length) throws IOException {
      int read = super.read(bytes, from, length);
      count(Math.max(0, read));
      return read;
    }

    private void count(int bytes) throws IOException {
      entryBytes += bytes;
      if (entryBytes > limits.entryBytesMax()) {
        throw new EntryTooLong();
      }
    }
  }
}
