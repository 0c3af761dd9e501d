package dev.flotilla.bench.report;

import dev.flotilla.bench.measure.Load;
import dev.flotilla.bench.measure.Result;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.MappingIterator;

/**
 * The files of results; the only class of this package that touches any.
 *
 * <p>A file is written into a folder that is there; none is made. It appears whole or not at all:
 * it is written beside its place and then moved there, and what could not be written to its end is
 * removed again. So a full disk loses nothing that was there before. What is no regular file, such
 * as {@code /dev/stdout}, is written to as it is.
 */
public final class ResultFiles {
  private final Opener opener;

  /** Files of this machine. */
  public ResultFiles() {
    this(Files::newOutputStream);
  }

  ResultFiles(Opener opener) {
    this.opener = opener;
  }

  /** Opens a file for writing; a test's disk may be full. */
  interface Opener {
    OutputStream open(Path file) throws IOException;
  }

  /**
   * The name that {@code vllm bench serve} gives a result, such as {@code
   * openai-chat-infqps-concurrency8-SmolLM2-20260914-101500.json}. What files may not be called
   * becomes {@code _}.
   *
   * @param label instead of the endpoint
   * @param zone in which the time is written
   */
  public static String name(Load load, Optional<String> label, Instant at, ZoneId zone) {
    String model = load.model().substring(load.model().lastIndexOf('/') + 1);
    String rate =
        load.ramp()
            .map(ramp ->
                "ramp-up-%s-%sqps-%sqps".formatted(ramp.strategy(), ramp.startRps(), ramp.endRps()))
            .orElse(
                (Double.isInfinite(load.requestRate())
                        ? "inf"
                        : Double.toString(load.requestRate()))
                    + "qps");
    String name =
        label.orElse(load.endpoint())
            + "-"
            + rate
            + (load.maxConcurrency() > 0 ? "-concurrency" + load.maxConcurrency() : "")
            + "-"
            + model
            + "-"
            + ResultJson.date(at, zone)
            + ".json";
    String safe = name.replaceAll("[^A-Za-z0-9._+-]", "_");
    return safe.startsWith(".") ? "_" + safe.substring(1) : safe;
  }

  /**
   * Writes text, such as a page or a result, in place of what was there.
   *
   * @throws IOException with one sentence that names the file; it is then as it was before
   */
  public void write(Path file, String text) throws IOException {
    write(file, text.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * Writes bytes, such as a picture, in place of what was there.
   *
   * @throws IOException with one sentence that names the file; it is then as it was before
   */
  public void write(Path file, byte[] content) throws IOException {
    try {
      Path folder = file.toAbsolutePath().getParent();
      if (folder == null || (Files.exists(file) && !Files.isRegularFile(file))) {
        try (OutputStream out = opener.open(file)) {
          out.write(content);
        }
      } else {
        replace(file, folder, content);
      }
    } catch (IOException e) {
      throw new IOException(file + ": nothing was written: " + reason(e), e);
    }
  }

  private void replace(Path file, Path folder, byte[] content) throws IOException {
    // Not a temporary file of the library's: those are for their owner alone, and these are mailed.
    Path beside = folder.resolve("." + file.getFileName() + "." + UUID.randomUUID() + ".part");
    try {
      try (OutputStream out = opener.open(beside)) {
        out.write(content);
      }
      try {
        Files.move(beside, file, StandardCopyOption.ATOMIC_MOVE);
      } catch (AtomicMoveNotSupportedException e) {
        Files.move(beside, file, StandardCopyOption.REPLACE_EXISTING);
      }
    } finally {
      Files.deleteIfExists(beside);
    }
  }

  /**
   * Writes JSON, on one line.
   *
   * @throws IOException with one sentence that names the file; it is then as it was before
   */
  public void write(Path file, JsonNode json) throws IOException {
    write(file, ResultJson.MAPPER.writeValueAsBytes(json));
  }

  /**
   * Adds a result to those that a file holds, on a line of its own, as {@code --append-result} of
   * the field does; makes the file where there is none.
   *
   * @throws IOException with one sentence that names the file; it is then as it was before
   */
  public void append(Path file, JsonNode json) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    if (Files.exists(file)) {
      checkLength(file);
      all.writeBytes(Files.readAllBytes(file));
      if (all.size() > 0) {
        all.write('\n');
      }
    }
    all.writeBytes(ResultJson.MAPPER.writeValueAsBytes(json));
    write(file, all.toByteArray());
  }

  /**
   * Reads what a file holds: runs, ours or of {@code vllm bench serve}, or a sweep of ours.
   *
   * @throws BrokenResult if it holds neither, with one sentence that names the file
   * @throws IOException if it can't be read, with one sentence that names the file
   */
  public Saved read(Path file) throws IOException {
    List<JsonNode> values = values(file);
    if (values.isEmpty()) {
      throw new BrokenResult(file + ": the file is empty");
    }
    try {
      if (values.size() == 1 && ResultJson.isSweep(values.getFirst())) {
        return new Saved.Swept(ResultJson.sweep(values.getFirst()));
      }
      List<Result> results = new ArrayList<>();
      for (JsonNode value : values) {
        results.add(ResultJson.result(value));
      }
      return new Saved.Runs(results);
    } catch (BrokenResult e) {
      throw new BrokenResult(file + ": " + e.getMessage(), e);
    }
  }

  private static List<JsonNode> values(Path file) throws IOException {
    checkLength(file);
    List<JsonNode> values = new ArrayList<>();
    try (MappingIterator<JsonNode> all =
        ResultJson.MAPPER.readerFor(JsonNode.class).readValues(Files.readAllBytes(file))) {
      while (all.hasNextValue()) {
        values.add(all.nextValue());
      }
      return values;
    } catch (JacksonException e) {
      throw new BrokenResult(
          "%s: no JSON in line %d, column %d: %s"
              .formatted(
                  file,
                  e.getLocation().getLineNr(),
                  e.getLocation().getColumnNr(),
                  ResultJson.reason(e)),
          e);
    } catch (IOException e) {
      throw new IOException(file + ": not read: " + reason(e), e);
    }
  }

  private static void checkLength(Path file) throws IOException {
    try {
      if (Files.isDirectory(file)) {
        throw new BrokenResult(file + ": a folder, and not a file of results");
      }
      if (Files.size(file) > ResultJson.LONGEST) {
        throw new BrokenResult(
            file + ": longer than the " + (ResultJson.LONGEST >> 20) + " MiB that are read");
      }
    } catch (NoSuchFileException e) {
      throw new IOException(file + ": there is no such file", e);
    }
  }

  /** What the system says, without the file's name, which the sentence has already. */
  private static String reason(IOException e) {
    if (e instanceof NoSuchFileException) {
      return "there is no such folder";
    }
    if (e instanceof FileSystemException f && f.getReason() != null) {
      return f.getReason();
    }
    if (e instanceof AccessDeniedException) {
      return "permission denied";
    }
    return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
  }
}
