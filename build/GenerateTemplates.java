import gg.jte.ContentType;
import gg.jte.TemplateEngine;
import gg.jte.resolve.DirectoryCodeResolver;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;

/**
 * Turns JTE templates into Java sources, so that they are compiled and type-checked with the rest
 * and the running hub needs no compiler.
 *
 * <p>Usage: {@code GenerateTemplates TEMPLATES TARGET PACKAGE}. {@code TARGET} is emptied first: a
 * template that was deleted leaves no class behind. The build forks this in JDK 25, so that Maven
 * itself may run on an older one.
 */
public final class GenerateTemplates {
  private GenerateTemplates() {}

  public static void main(String[] args) throws Exception {
    Path templates = Path.of(args[0]);
    Path target = Path.of(args[1]);
    empty(target);
    TemplateEngine engine =
        TemplateEngine.create(
            new DirectoryCodeResolver(templates), target, ContentType.Html, null, args[2]);
    engine.setTrimControlStructures(true);
    try {
      engine.generateAll();
    } catch (RuntimeException e) {
      System.err.println(templates + ": " + e.getMessage());
      System.exit(1);
    }
  }

  private static void empty(Path folder) throws Exception {
    if (!Files.exists(folder)) {
      return;
    }
    try (var files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
