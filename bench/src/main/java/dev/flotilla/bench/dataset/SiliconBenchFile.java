package dev.flotilla.bench.dataset;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.json.JsonMapper;

/**
 * Prompts in the schema of SiliconBench's files: an array of {@code {name, description, messages,
 * max_tokens}}. Their benchmark reads it, and so does the dataset {@code file}.
 */
public final class SiliconBenchFile {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private SiliconBenchFile() {}

  /**
   * Writes the file, over one that is there.
   *
   * @throws IOException where it can't be written
   */
  public static void write(Dataset dataset, Path file) throws IOException {
    try (Writer writer = Files.newBufferedWriter(file, UTF_8);
        JsonGenerator json = MAPPER.createGenerator(writer)) {
      json.writeStartArray();
      for (Prompt prompt : dataset.prompts()) {
        json.writeStartObject();
        json.writeStringProperty("name", prompt.name());
        json.writeStringProperty("description", dataset.description());
        json.writeName("messages");
        switch (prompt.input()) {
          case Prompt.Input.Messages messages -> json.writeRawValue(messages.messages());
          case Prompt.Input.Text text -> {
            json.writeStartArray();
            json.writeStartObject();
            json.writeStringProperty("role", "user");
            json.writeStringProperty("content", text.text());
            json.writeEndObject();
            json.writeEndArray();
          }
        }
        json.writeNumberProperty("max_tokens", prompt.maxTokens());
        json.writeEndObject();
      }
      json.writeEndArray();
    }
  }
}
