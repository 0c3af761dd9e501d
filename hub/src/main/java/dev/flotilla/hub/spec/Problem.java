package dev.flotilla.hub.spec;

/**
 * One thing that is wrong with a {@code fleet.yaml}.
 *
 * @param line counted from 1
 * @param column counted from 1
 * @param path where it is, such as {@code models.qwen3-4b.promise.context}; empty for the file as a
 *     whole
 * @param message what is wrong and what to do
 */
public record Problem(int line, int column, String path, String message) {

  /** Line, path and message as one line for a person. */
  @Override
  public String toString() {
    return "line " + line + ": " + (path.isEmpty() ? "" : path + ": ") + message;
  }
}
