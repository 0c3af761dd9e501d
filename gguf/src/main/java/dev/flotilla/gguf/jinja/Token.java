package dev.flotilla.gguf.jinja;

/**
 * A word of a template.
 *
 * @param text of a text, name or operator the characters; of a string what it stands for
 * @param value of a number its value, else the text
 */
record Token(TokenType type, String text, Object value, int line) {
  boolean isName(String name) {
    return type == TokenType.NAME && text.equals(name);
  }

  boolean isOperator(String operator) {
    return type == TokenType.OPERATOR && text.equals(operator);
  }

  /** As messages show it. */
  String shown() {
    return switch (type) {
      case TEXT -> "text";
      case PRINT_BEGIN -> "'{{'";
      case PRINT_END -> "'}}'";
      case BLOCK_BEGIN -> "'{%'";
      case BLOCK_END -> "'%}'";
      case STRING -> "a string";
      case END -> "the end of the template";
      default -> "'" + text + "'";
    };
  }
}
