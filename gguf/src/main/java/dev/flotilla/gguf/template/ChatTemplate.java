package dev.flotilla.gguf.template;

import dev.flotilla.gguf.jinja.Parser;
import dev.flotilla.gguf.jinja.Stmt;
import dev.flotilla.gguf.python.Kinds;
import dev.flotilla.gguf.sandbox.Budget;
import dev.flotilla.gguf.sandbox.Failure;
import dev.flotilla.gguf.sandbox.TemplateLimits;
import dev.flotilla.gguf.sandbox.TemplateRefused;
import dev.flotilla.gguf.sandbox.TemplateRefused.Kind;
import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A model's chat template: what turns a conversation into the prompt that the model was trained on.
 *
 * <p>Templates are written in Jinja and are right only as Python renders them, so this is an
 * interpreter of Jinja with Python's values: {@code str} and {@code repr}, {@code tojson} to the
 * blank, slices, methods of texts and dicts, generators. The environment is the one that the {@code
 * transformers} library gives its templates: {@code trim_blocks}, {@code lstrip_blocks}, {@code
 * break} and {@code continue}, {@code generation} blocks, {@code raise_exception}, {@code
 * strftime_now}, and a sandbox in which a template can change nothing but its own namespaces. There
 * is no other template to include or to extend.
 *
 * <p>A template comes with a model file and is not to be trusted. It reaches nothing but the values
 * that it is given, and one that loops for ever, recurses or grows without end is stopped by {@link
 * TemplateLimits}.
 *
 * <p>Immutable: one template may be rendered by many threads at a time.
 */
public final class ChatTemplate {
  private final List<Stmt> statements;
  private final TemplateLimits limits;

  private ChatTemplate(List<Stmt> statements, TemplateLimits limits) {
    this.statements = statements;
    this.limits = limits;
  }

  /**
   * Reads a template.
   *
   * @throws TemplateRefused of {@link Kind#SYNTAX}, or of {@link Kind#LIMIT} where it is too long
   */
  public static ChatTemplate parse(String source, TemplateLimits limits) throws TemplateRefused {
    if (source.length() > limits.sourceCharactersMax()) {
      throw new TemplateRefused(
          Kind.LIMIT,
          1,
          "it has %,d characters, at most %,d are read"
              .formatted(source.length(), limits.sourceCharactersMax()));
    }
    try {
      return new ChatTemplate(Parser.parse(source), limits);
    } catch (Failure e) {
      throw e.refused(1);
    }
  }

  /**
   * The prompt for a conversation.
   *
   * @param variables what the template speaks of: {@code messages}, {@code add_generation_prompt},
   *     {@code tools} where there are any, {@code bos_token}, {@code eos_token}, and each of a
   *     request's {@code chat_template_kwargs}. Values are what a JSON reader makes: maps, lists,
   *     texts, numbers, truth values, null
   * @param clock the time and zone of {@code strftime_now}
   * @throws TemplateRefused with the line and what happened there
   */
  public String render(Map<String, ? extends @Nullable Object> variables, Clock clock)
      throws TemplateRefused {
    Budget budget = new Budget(limits);
    Rendering rendering = new Rendering(budget, clock);
    try {
      Map<String, Object> given = new HashMap<>();
      variables.forEach((name, value) -> given.put(name, Kinds.given(value, budget, 0)));
      return rendering.render(statements, given);
    } catch (Failure e) {
      throw e.refused(rendering.line());
    } catch (StackOverflowError e) {
      // levels are counted, but how much stack one takes is the caller's thread's business
      throw new TemplateRefused(
          Kind.LIMIT, rendering.line(), "more levels deep than this thread's stack allows");
    }
  }
}
