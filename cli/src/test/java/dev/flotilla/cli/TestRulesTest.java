package dev.flotilla.cli;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import dev.flotilla.testkit.real.Needs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;

/** What holds for the tests of all modules, which are built when this one's run. */
class TestRulesTest {
  @Test
  void noTestIsSkippedButThroughNeeds() throws IOException {
    JavaClasses tests = new ClassFileImporter().importPaths(testClasses());
    assertThat(tests.size()).isGreaterThan(50);
    noClasses()
        .that()
        .doNotBelongToAnyOf(TestRulesTest.class)
        .and()
        .doNotHaveFullyQualifiedName("dev.flotilla.testkit.real.NeedsTest")
        .should()
        .dependOnClassesThat(
            belongToAnyOf(Assumptions.class, org.assertj.core.api.Assumptions.class, Disabled.class)
                .or(type(TestAbortedException.class))
                .or(resideInAPackage("org.junit.jupiter.api.condition..")))
        .because(Needs.class.getSimpleName() + " says what is missing, and fails where CI=true")
        .check(tests);
  }

  private static List<Path> testClasses() throws IOException {
    try (Stream<Path> modules = Files.list(Path.of(System.getProperty("flotilla.root")))) {
      return modules
          .map(module -> module.resolve("target").resolve("test-classes"))
          .filter(Files::isDirectory)
          .toList();
    }
  }
}
