import com.google.googlejavaformat.java.Formatter;
import com.google.googlejavaformat.java.ImportOrderer;
import com.google.googlejavaformat.java.JavaFormatterOptions;
import com.google.googlejavaformat.java.RemoveUnusedImports;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs google-java-format over every Java source below a folder.
 *
 * <p>Usage: {@code FormatSources check|apply FOLDER}. {@code check} names the files that differ and
 * exits with 1; {@code apply} rewrites them. The build forks this in JDK 25, so that Maven itself
 * may run on an older one.
 */
public final class FormatSources {
  private FormatSources() {}

  public static void main(String[] args) throws Exception {
    boolean apply = args[0].equals("apply");
    Formatter formatter = new Formatter(JavaFormatterOptions.defaultOptions());
    List<Path> sources;
    try (var files = Files.walk(Path.of(args[1]))) {
      sources =
          files
              .filter(file -> file.toString().endsWith(".java"))
              .filter(file -> !file.toString().contains("/target/"))
              .sorted()
              .toList();
    }
    List<Path> different = new ArrayList<>();
    for (Path source : sources) {
      String before = Files.readString(source);
      String after;
      try {
        after =
            formatter.formatSource(
                ImportOrderer.reorderImports(
                    RemoveUnusedImports.removeUnusedImports(before),
                    JavaFormatterOptions.Style.GOOGLE));
      } catch (Exception e) {
        System.err.println(source + ": cannot be parsed: " + e.getMessage());
        System.exit(1);
        return;
      }
      if (!after.equals(before)) {
        different.add(source);
        if (apply) {
          Files.writeString(source, after);
        }
      }
    }
    if (!apply && !different.isEmpty()) {
      different.forEach(source -> System.err.println("not formatted: " + source));
      System.err.println(
          "to format them: mvn -N process-sources -Dformat=apply -Dformat.phase=process-sources");
      System.exit(1);
    }
  }
}
