package dev.flotilla.bench.dataset;

import java.io.StringWriter;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.json.JsonMapper;

/**
 * Prompts in the schema of SiliconBench's files: an array of {@code {name, description, messages,
 * max_tokens}}. Their benchmark reads it, and so does the dataset {@code file}.
 */
public final class SiliconBenchFile {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private SiliconBenchFile() {}

  /** The file's text, on one line. */
  public static String of(Dataset dataset) {
    StringWriter written = new StringWriter();
    try (JsonGenerator json = MAPPER.createGenerator(written)) {
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
    return written.toString();
  }
}
