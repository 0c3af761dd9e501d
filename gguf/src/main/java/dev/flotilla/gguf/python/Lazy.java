package dev.flotilla.gguf.python;

import dev.flotilla.gguf.sandbox.Budget;
import dev.flotilla.gguf.sandbox.Failure;
import java.util.Iterator;

/**
 * A Python generator: walked through once, without a length, always true. What {@code map}, {@code
 * select} and their like return; a template that prints or serialises one was wrong in Python too.
 *
 * @param depth how many generators feed each other
 */
public record Lazy(Iterator<Object> items, int depth) {
  /**
   * A generator that is fed by that value.
   *
   * @throws Failure where too many feed each other
   */
  public static Lazy over(Object source, Iterator<Object> items) {
    return new Lazy(items, source instanceof Lazy lazy ? Budget.deeper(lazy.depth) : 0);
  }
}
