package dev.flotilla.gguf.template;

/** What a template can call: a macro, a method of a value, a function given from outside. */
interface Callable {
  /** As messages name it. */
  String name();

  Object call(Rendering rendering, Arguments arguments);

  /** A function of the language or of its host. */
  record Function(String name, Body body) implements Callable {
    @Override
    public Object call(Rendering rendering, Arguments arguments) {
      return body.call(rendering, arguments);
    }
  }

  /** What a function does. */
  @FunctionalInterface
  interface Body {
    Object call(Rendering rendering, Arguments arguments);
  }
}
