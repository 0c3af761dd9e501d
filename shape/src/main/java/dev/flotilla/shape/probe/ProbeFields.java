package dev.flotilla.shape.probe;

/** Fields of requests that several probes share, as JSON. */
final class ProbeFields {
  static final String STORY = user("Tell a long story about a river.") + ",\"temperature\":0";
  static final String WEATHER = user("Weather in Paris?") + ",\"temperature\":0";
  static final String LONG = user("$LONG") + ",\"temperature\":0";

  static final String TWO_STORIES =
      user("Tell a long story about a river.") + ",\"temperature\":0.7,\"seed\":7,\"n\":2";

  static final String STREAM = "\"stream\":true";
  static final String STREAM_WITH_USAGE = STREAM + ",\"stream_options\":{\"include_usage\":true}";

  static final String TOOLS =
      """
      "tools":[{"type":"function","function":{"name":"get_weather","description":"Weather of a city",\
      "strict":true,"parameters":%s}}]\
      """
          .formatted(ProbeSchema.WEATHER);

  static final String REQUIRED = "\"tool_choice\":\"required\"";
  static final String NAMED =
      "\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"get_weather\"}}";

  static final String SCHEMA =
      """
      "response_format":{"type":"json_schema","json_schema":{"name":"city","strict":true,"schema":%s}}\
      """
          .formatted(ProbeSchema.CITY);

  private ProbeFields() {}

  static String body(String... fields) {
    return "{\"model\":\"$MODEL\"," + String.join(",", fields) + "}";
  }

  static String limit(int tokens) {
    return "\"max_tokens\":" + tokens;
  }

  static String user(String text) {
    return messages(message("user", text));
  }

  static String messages(String... messages) {
    return "\"messages\":[" + String.join(",", messages) + "]";
  }

  static String message(String role, String text) {
    return "{\"role\":\"" + role + "\",\"content\":\"" + text + "\"}";
  }

  /**
   * A question after two that were answered with a call each: some engines let words stand before a
   * call that they are told to force, and a small model goes on with what it sees.
   */
  static String calls(String question) {
    return messages(
            message("user", "Weather in Rome?"),
            called(1, "Rome", "Sun"),
            message("assistant", "Sun."),
            message("user", "Weather in Paris?"),
            called(2, "Paris", "Rain"),
            message("assistant", "Rain."),
            message("user", question))
        + ",\"temperature\":0";
  }

  /** A call that was made, and its result. */
  static String called(int number, String city, String weather) {
    return """
    {"role":"assistant","content":null,"tool_calls":[{"id":"call_%1$d","type":"function",\
    "function":{"name":"get_weather","arguments":"{\\"city\\": \\"%2$s\\"}"}}]},\
    {"role":"tool","tool_call_id":"call_%1$d","content":"%3$s"}\
    """
        .formatted(number, city, weather);
  }
}
