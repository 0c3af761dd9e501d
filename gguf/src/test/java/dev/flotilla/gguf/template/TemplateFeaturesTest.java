package dev.flotilla.gguf.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.gguf.sandbox.TemplateLimits;
import dev.flotilla.gguf.sandbox.TemplateRefused;
import dev.flotilla.gguf.sandbox.TemplateRefused.Kind;
import dev.flotilla.testkit.real.Python;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Every feature of the language, in small templates of our own: {@code features.json} has what
 * Python's Jinja makes of each, and {@code features.py} writes it.
 */
class TemplateFeaturesTest {
  private static final Clock NOW =
      Clock.fixed(Instant.parse("2026-01-02T15:04:05Z"), ZoneOffset.UTC);

  @TestFactory
  Stream<DynamicTest> rendersAsPythonDoes() {
    JsonNode data = read("features.json");
    return data.path("features")
        .valueStream()
        .map(feature ->
            DynamicTest.dynamicTest(
                feature.path("group").asString() + ": " + feature.path("template").asString(),
                () -> check(feature, data.path("variables"))));
  }

  private static void check(JsonNode feature, JsonNode variables) throws TemplateRefused {
    Map<String, Object> given = new HashMap<>(values(variables));
    given.putAll(values(feature.path("variables")));
    String template = feature.path("template").asString();
    if (feature.has("text")) {
      assertThat(render(template, given)).isEqualTo(feature.path("text").asString());
    } else {
      assertThatThrownBy(() -> render(template, given)).isInstanceOf(TemplateRefused.class);
    }
  }

  /** The file's expectations are Python's, and not ours. */
  @Test
  void theExpectationsAreWhatPythonRenders() throws URISyntaxException {
    Python python = Python.with("jinja2-3.1.6", List.of("jinja2==3.1.6", "markupsafe==3.0.3"));
    URL script = Objects.requireNonNull(getClass().getResource("features.py"));
    Python.Ended ended = python.run(Path.of(script.toURI()), Map.of(), Duration.ofMinutes(2));
    assertThat(ended.exitCode()).as(ended.output()).isZero();
  }

  @Test
  void aRefusalByTheTemplateItselfHasItsOwnWords() {
    assertThatThrownBy(() ->
            render(
                "{% if n %}\n{{ raise_exception('Roles must alternate') }}{% endif %}",
                Map.of("n", 1)))
        .isInstanceOfSatisfying(
            TemplateRefused.class,
            e -> {
              assertThat(e.kind()).isEqualTo(Kind.RAISED);
              assertThat(e.line()).isEqualTo(2);
              assertThat(e.reason()).isEqualTo("Roles must alternate");
            });
  }

  @Test
  void aMessageNamesTheLine() {
    assertThatThrownBy(() -> render("a\n\n{{ x.y.z }}\n", Map.of("x", Map.of())))
        .hasMessage("chat template, line 3: 'dict object' has no attribute 'y'");
    assertThatThrownBy(() -> render("{% if true %}\n\n{% endfor %}", Map.of()))
        .hasMessage(
            "chat template, line 3: the tag 'endfor' is unknown, or has nothing to end here");
    assertThatThrownBy(
            () -> render("\n{% macro m() %}\n{{ 1 + none }}{% endmacro %}\n{{ m() }}", Map.of()))
        .hasMessageStartingWith("chat template, line 3: unsupported operand type(s) for +");
    assertThatThrownBy(() -> render("x\n{% include 'other' %}", Map.of()))
        .hasMessage(
            "chat template, line 2: 'include' needs another template, and a model file has none");
  }

  private static String render(String template, Map<String, ?> variables) throws TemplateRefused {
    return ChatTemplate.parse(template, TemplateLimits.DEFAULTS).render(variables, NOW);
  }

  private static Map<String, Object> values(JsonNode object) {
    return object.isMissingNode()
        ? Map.of()
        : JsonMapper.shared().convertValue(object, new TypeReference<Map<String, Object>>() {});
  }

  private JsonNode read(String resource) {
    try (InputStream in = Objects.requireNonNull(getClass().getResourceAsStream(resource))) {
      return JsonMapper.shared().readTree(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
