package dev.flotilla.shape.probe;

import java.util.Set;
import tools.jackson.databind.JsonNode;

/** The two schemas of the probes, as they stand in requests and as answers are held to them. */
final class ProbeSchema {
  private static final Set<String> CITIES = Set.of("Paris", "Rome");
  private static final Set<String> UNITS = Set.of("C", "F");

  /** Arguments of the tool {@code get_weather}: values that leave a small model no room. */
  static final String WEATHER =
      """
      {"type":"object","properties":{"city":{"type":"string","enum":["Paris","Rome"]}},\
      "required":["city"],"additionalProperties":false}\
      """;

  /** An answer. */
  static final String CITY =
      """
      {"type":"object","properties":{"city":{"type":"string","enum":["Paris","Rome"]},\
      "unit":{"type":"string","enum":["C","F"]}},"required":["city","unit"],\
      "additionalProperties":false}\
      """;

  private ProbeSchema() {}

  static boolean isWeather(JsonNode object) {
    return object.size() == 1 && CITIES.contains(object.path("city").asString(""));
  }

  static boolean isCity(JsonNode object) {
    return object.size() == 2
        && CITIES.contains(object.path("city").asString(""))
        && UNITS.contains(object.path("unit").asString(""));
  }
}
