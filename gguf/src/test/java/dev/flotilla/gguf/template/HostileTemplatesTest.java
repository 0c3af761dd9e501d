package dev.flotilla.gguf.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.gguf.sandbox.TemplateLimits;
import dev.flotilla.gguf.sandbox.TemplateRefused;
import dev.flotilla.gguf.sandbox.TemplateRefused.Kind;
import dev.flotilla.testkit.real.LimitsPage;
import java.time.Clock;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Templates that would hold up a server, and what stops each. */
class HostileTemplatesTest {
  private static final TemplateLimits DEFAULTS = TemplateLimits.DEFAULTS;

  /** A tenth of everything, so that the tests are quick where the budget is what ends them. */
  private static final TemplateLimits TENTH =
      new TemplateLimits(
          DEFAULTS.sourceCharactersMax(),
          DEFAULTS.stepsMax() / 10,
          DEFAULTS.stepsPerInputValue(),
          DEFAULTS.depthMax(),
          DEFAULTS.outputCharactersMax() / 10,
          DEFAULTS.madeCharactersMax() / 10,
          DEFAULTS.madePerInputCharacter(),
          DEFAULTS.rangeMax());

  @ParameterizedTest
  @ValueSource(
      strings = {
        // loops without end
        "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
        "{% for a in range(99999) %}{% for b in range(99999) if false %}{% endfor %}{% endfor %}",
        "{{ range(1000000000000) }}",
        "{{ range(0, -1000000000000, -1) | length }}",
        "{% for a in 'x' * 100000000000 %}{% endfor %}",
        "{% for a in range(99999) %}{{ m | replace('x', 'yy') | length }}{% endfor %}",
        "{% for a in range(99999) %}{% if m in m %}{% endif %}{% endfor %}",
        "{% for a in range(99999) %}{{ m | length }}{% endfor %}",
        "{% for a in range(99999) %}{{ m.split('x') | length }}{% endfor %}",
        "{% for a in range(99999) %}{% if a in range(99999) | list %}{% endif %}{% endfor %}",
        "{% for a in range(99999) %}{% for b in m | map('upper') %}{% endfor %}{% endfor %}",
        // recursion
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
        "{% macro f(x) %}{{ f(x ~ 'a') }}{{ f(x) }}{% endmacro %}{{ f('') }}",
        "{% macro f() %}{{ caller() }}{% endmacro %}{% macro g() %}{% call f() %}{{ g() }}{% endcall %}{% endmacro %}{{ g() }}",
        "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
        // growth
        "{% set n = namespace(x='ab') %}{% for a in range(99) %}{% set n.x = n.x + n.x %}{% endfor %}",
        "{% set n = namespace(x='ab') %}{% for a in range(99) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
        "{% set n = namespace(x=[1]) %}{% for a in range(99) %}{% set n.x = n.x + n.x %}{% endfor %}",
        "{% set n = namespace(x='ab') %}{% for a in range(99) %}{% set n.x = n.x | replace('a', 'aab') %}{% endfor %}",
        "{% set n = namespace(x='ab') %}{% for a in range(99) %}{% set n.x = [n.x, n.x] | join %}{% endfor %}",
        "{% set n = namespace(x='ab') %}{% for a in range(99) %}{% set n.x = (n.x, n.x) | string %}{% endfor %}",
        "{% set n = namespace(x='<') %}{% for a in range(99) %}{% set n.x = n.x | forceescape | forceescape %}{% endfor %}{{ n.x }}{% for a in range(99999) %}{{ m }}{% endfor %}",
        "{{ 'x' * 1000000000 }}",
        "{{ [1] * 1000000000 }}",
        "{{ 'x' * 9223372036854775807 }}",
        "{{ 'x'.center(9999999999) }}",
        "{{ 'x'.zfill(9999999999) }}",
        "{{ ''.join(['x' * 1000000] * 1000) }}",
        "{{ [1] | batch(999999999, 0) | list }}",
        "{{ [] | slice(999999999) | list }}",
        "{% for a in range(99999) %}{{ m }}{% endfor %}",
        "{% for a in range(99999) %}{{ '%9999s' % 1 }}{% endfor %}",
        "{% for a in range(99999) %}{{ '{:9999}'.format(1) }}{% endfor %}",
        "{% for a in range(99999) %}{{ [1] | tojson(indent=100) }}{{ m | tojson }}{% endfor %}",
        "{{ (m | list | map('center', 9999) | join) | length }}",
        "{{ 10 ** 9999 }}",
        "{{ 2 ** 5000 }}",
        // values within values: a handful of lists that print as 2^60 numbers
        "{% set n = namespace(x=[1]) %}{% for a in range(60) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x }}",
        "{% set n = namespace(x=[1]) %}{% for a in range(60) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x | tojson }}",
        "{% set n = namespace(x=[1], y=[1]) %}{% for a in range(60) %}{% set n.x = [n.x, n.x] %}{% set n.y = [n.y, n.y] %}{% endfor %}{{ n.x == n.y }}",
        "{% set n = namespace(x=[1], y=[1]) %}{% for a in range(60) %}{% set n.x = [n.x, n.x] %}{% set n.y = [n.y, n.y] %}{% endfor %}{{ n.x < n.y }}",
        "{% set n = namespace(x=[]) %}{% for a in range(9999) %}{% set n.x = [n.x] %}{% endfor %}{{ n.x }}",
        "{% set n = namespace(x={}) %}{% for a in range(9999) %}{% set n.x = {'k': n.x} %}{% endfor %}{{ n.x | tojson }}",
        "{% set n = namespace() %}{% set n.n = n %}{{ n }}",
        "{% set n = namespace(x=m | list) %}{% for a in range(9999) %}{% set n.x = n.x | map('upper') %}{% endfor %}{{ n.x | list }}"
      })
  void isStoppedByTheBudget(String template) {
    assertThatThrownBy(() -> render(template, TENTH, Map.of("m", "x".repeat(10_000))))
        .isInstanceOfSatisfying(
            TemplateRefused.class,
            e -> assertThat(e.kind()).as(e.getMessage()).isEqualTo(Kind.LIMIT));
  }

  @Test
  void anEndlessLoopEndsWithTheDefaultsToo() {
    assertThatThrownBy(() ->
            render(
                "{% set r = range(9999) %}\n{% for a in r %}\n{% for b in r %}{% endfor %}{% endfor %}",
                DEFAULTS, Map.of()))
        .hasMessageStartingWith("chat template, line 3: it took more than 50,000,000 steps");
  }

  @Test
  void aTemplateThatNestsTooDeeplyIsNotRead() {
    for (String deep :
        List.of(
            "{{ " + "(".repeat(5000) + "1" + ")".repeat(5000) + " }}",
            "{{ " + "[".repeat(5000) + "]".repeat(5000) + " }}",
            "{{ " + "not ".repeat(5000) + "1 }}",
            "{{ " + "-".repeat(5000) + "1 }}",
            "{{ x" + " if 1 else x".repeat(5000) + " }}",
            "{% if 1 %}".repeat(5000) + "{% endif %}".repeat(5000),
            "{% set " + "(".repeat(5000) + "x" + ")".repeat(5000) + " = 1 %}")) {
      assertThatThrownBy(() -> render(deep, DEFAULTS, Map.of()))
          .hasMessageContaining("more than 200 levels deep");
    }
    assertThatThrownBy(() -> render("{{ 1" + " + 1".repeat(5000) + " }}", DEFAULTS, Map.of()))
        .hasMessageContaining("more than 1,000 levels deep");
    assertThatThrownBy(() -> render("x".repeat(1_000_001), DEFAULTS, Map.of()))
        .hasMessageContaining("it has 1,000,001 characters, at most 1,000,000 are read");
  }

  @Test
  void aMessageOfTenMegabytesIsRendered() throws TemplateRefused {
    String long10 = "word </think> ".repeat(730_000);
    String template =
        "{% for m in messages %}<{{ m.role }}>{% if '</think>' in m.content %}"
            + "{{ m.content.split('</think>')[-1] | trim }}{% endif %}{{ m.content | trim }}"
            + "{{ m.content | tojson }}{% endfor %}";
    assertThat(
            render(
                template,
                DEFAULTS,
                Map.of("messages", List.of(Map.of("role", "user", "content", long10)))))
        .hasSizeGreaterThan(20_000_000);
  }

  /** Many templates look back from each message, which is no endless loop. */
  @Test
  void aLongConversationMayBeLookedThroughForEachMessage() throws TemplateRefused {
    Map<String, Object> message = Map.of("role", "user", "content", "Hi");
    String template =
        "{% for m in messages %}{% for n in messages[:loop.index0] %}{% if n.role == 'x' %}"
            + "{{ n.content }}{% endif %}{% endfor %}{{ m.content }}{% endfor %}";
    assertThat(render(template, DEFAULTS, Map.of("messages", Collections.nCopies(3000, message))))
        .hasSize(6000);
  }

  @Test
  void aPromptBeyondTheLimitIsRefused() {
    assertThatThrownBy(() ->
            render("{{ m }}{{ m }}{{ m }}{{ m }}", DEFAULTS, Map.of("m", "x".repeat(10_000_000))))
        .hasMessageContaining("its output is longer than 32,000,000 characters");
  }

  /** Whatever the text is: a rendering or a refusal. */
  @Test
  void mutatedTemplatesAreRenderedOrRefused() {
    String whole =
        "{%- for m in messages if m.role != 'x' %}{{ '<|' ~ m['role'] + '|>' }}"
            + "{% if m.tools is defined and m.tools %}{{ m.tools | tojson(indent=2) }}{% endif %}"
            + "{% set ns.x = m.content[1:-1] | default('', true) %}{{ loop.index0 % 2 == 0 }}"
            + "{% macro f(a, b=1) %}{{ a.split(',')[b] | trim }}{% endmacro %}{{ f('a,b') }}"
            + "{% call(x) f(1) %}{{ x }}{% endcall %}{% set y %}{# c #}{{- 1.5e3 -}}{% endset %}"
            + "{%- endfor -%}{% filter upper %}{{ {'a': (1, 2)} }}{% endfilter %}";
    String letters = "{}%#-+()[]'\"|.,:=~*/ \n\\0aifornset";
    Random random = new Random(20260102);
    Map<String, Object> variables =
        Map.of("messages", List.of(Map.of("role", "user", "content", "Hi, you")));
    for (int round = 0; round < 20_000; round++) {
      StringBuilder text = new StringBuilder(whole);
      for (int change = random.nextInt(1, 5); change > 0; change--) {
        int at = random.nextInt(text.length());
        char letter = letters.charAt(random.nextInt(letters.length()));
        switch (random.nextInt(3)) {
          case 0 -> text.setCharAt(at, letter);
          case 1 -> text.insert(at, letter);
          default -> text.deleteCharAt(at);
        }
      }
      try {
        assertThat(render(text.toString(), TENTH, variables)).isNotNull();
      } catch (TemplateRefused e) {
        assertThat(e.line()).isBetween(1, 8);
      }
    }
  }

  @Test
  void thePageOfLimitsHasThem() {
    assertThat(LimitsPage.missing(DEFAULTS, Set.of())).isEmpty();
  }

  private static String render(String template, TemplateLimits limits, Map<String, ?> variables)
      throws TemplateRefused {
    return ChatTemplate.parse(template, limits).render(variables, Clock.systemUTC());
  }
}
