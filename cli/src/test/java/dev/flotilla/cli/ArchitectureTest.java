package dev.flotilla.cli;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The arrows of docs/architecture.md. */
@AnalyzeClasses(packages = "dev.flotilla", importOptions = ImportOption.DoNotIncludeTests.class)
final class ArchitectureTest {
  private static final String WIRE = "dev.flotilla.wire..";
  private static final String GGUF = "dev.flotilla.gguf..";
  private static final String SHAPE = "dev.flotilla.shape..";
  private static final String SERVER = "dev.flotilla.server..";

  @ArchTest
  static final ArchRule WIRE_USES_NOTHING_OF_OURS =
      noClasses()
          .that(resideInAPackage(WIRE))
          .should()
          .dependOnClassesThat(oursOutside(WIRE))
          .because("it is the language that all others share");

  @ArchTest
  static final ArchRule GGUF_USES_NOTHING_OF_OURS =
      noClasses()
          .that(resideInAPackage(GGUF))
          .should()
          .dependOnClassesThat(oursOutside(GGUF))
          .because("it reads files, and knows of no fleet");

  @ArchTest
  static final ArchRule AGENT_USES_WIRE_AND_GGUF =
      noClasses()
          .that(resideInAPackage("dev.flotilla.agent.."))
          .should()
          .dependOnClassesThat(oursOutside("dev.flotilla.agent..", WIRE, GGUF))
          .because("an agent and a hub meet over lanes only");

  @ArchTest
  static final ArchRule SHAPE_USES_WIRE =
      noClasses()
          .that(resideInAPackage(SHAPE))
          .should()
          .dependOnClassesThat(oursOutside(SHAPE, WIRE))
          .because("it compares any two servers, and knows of no fleet");

  @ArchTest
  static final ArchRule SERVER_USES_WIRE =
      noClasses()
          .that(resideInAPackage(SERVER))
          .should()
          .dependOnClassesThat(oursOutside(SERVER, WIRE))
          .because("it listens, for the hub and for one model alike");

  @ArchTest
  static final ArchRule ENGINE_USES_WIRE_GGUF_AND_SERVER =
      noClasses()
          .that(resideInAPackage("dev.flotilla.engine.."))
          .should()
          .dependOnClassesThat(oursOutside("dev.flotilla.engine..", WIRE, GGUF, SERVER))
          .because("it serves one model, and knows of no fleet");

  @ArchTest
  static final ArchRule HUB_USES_WIRE_SHAPE_AND_SERVER =
      noClasses()
          .that(resideInAPackage("dev.flotilla.hub.."))
          .should()
          .dependOnClassesThat(oursOutside("dev.flotilla.hub..", WIRE, SHAPE, SERVER))
          .because("an agent and a hub meet over lanes only");

  @ArchTest
  static final ArchRule TESTKIT_USES_WIRE =
      noClasses()
          .that(resideInAPackage("dev.flotilla.testkit.."))
          .should()
          .dependOnClassesThat(oursOutside("dev.flotilla.testkit..", WIRE))
          .because("a fake engine must not know what is tested with it");

  @ArchTest
  static final ArchRule BENCH_USES_WIRE =
      noClasses()
          .that(resideInAPackage("dev.flotilla.bench.."))
          .should()
          .dependOnClassesThat(oursOutside("dev.flotilla.bench..", WIRE))
          .because("it measures any server, and must not favour ours");

  @ArchTest
  static final ArchRule ONLY_AN_ENGINE_MAY_USE_THE_VECTOR_MODULE =
      noClasses()
          .that(resideInAPackage("dev.flotilla.."))
          .and(not(resideInAPackage("dev.flotilla.engine..")))
          .should()
          .dependOnClassesThat(resideInAPackage("jdk.incubator.."))
          .because("resolving it costs every start of a hub and an agent");

  @ArchTest
  static final ArchRule THE_INSIDES_OF_TEMPLATES_ARE_NOBODY_ELSES =
      noClasses()
          .that(not(resideInAPackage(GGUF)))
          .should()
          .dependOnClassesThat(
              resideInAnyPackage("dev.flotilla.gguf.jinja..", "dev.flotilla.gguf.python.."))
          .because("they are public for the interpreter alone, which is a package of its own");

  @ArchTest
  static final ArchRule ONE_WAY_UPSTREAM =
      noClasses()
          .that(resideInAPackage("dev.flotilla.hub.."))
          .should()
          .dependOnClassesThat(resideInAPackage("java.net.http.."))
          .because("requests go upstream through the strict client of wire, and through no other");

  @ArchTest
  static final ArchRule PACKAGES_HAVE_NO_CYCLES =
      slices().matching("dev.flotilla.(*).(*)..").should().beFreeOfCycles();

  @ArchTest
  static final ArchRule PACKAGES_ARE_ONE_LEVEL_DEEP =
      classes()
          .that(resideInAPackage("dev.flotilla.."))
          .should()
          .resideInAnyPackage("dev.flotilla.*", "dev.flotilla.*.*");

  private static DescribedPredicate<JavaClass> oursOutside(String... allowed) {
    return resideInAPackage("dev.flotilla..").and(not(resideInAnyPackage(allowed)));
  }
}
