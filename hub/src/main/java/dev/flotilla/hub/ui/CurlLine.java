package dev.flotilla.hub.ui;

import tools.jackson.core.io.JsonStringEncoder;

/**
 * Lines that ask a model, ready for a shell.
 *
 * @param address up to the port, no slash at the end
 * @param keyed whether a key is demanded: the line then reads it from the variable {@code
 *     FLOTILLA_KEY}
 */
record CurlLine(String address, boolean keyed) {

  String chat(String model) {
    return line(
        "/v1/chat/completions",
        "{\"model\":\""
            + json(model)
            + "\",\"messages\":[{\"role\":\"user\",\"content\":\"Say hi\"}]}");
  }

  String embeddings(String model) {
    return line("/v1/embeddings", "{\"model\":\"" + json(model) + "\",\"input\":\"Say hi\"}");
  }

  private String line(String path, String body) {
    return "curl -s "
        + ShellLine.quote(address + path)
        + (keyed ? " -H \"Authorization: Bearer $FLOTILLA_KEY\"" : "")
        + " -d "
        + ShellLine.quote(body);
  }

  private static String json(String text) {
    return new String(JsonStringEncoder.getInstance().quoteAsCharArray(text));
  }
}
