package dev.flotilla.testkit.real;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.opentest4j.AssertionFailedError;
import org.opentest4j.TestAbortedException;

/**
 * What a test needs of the machine that not every machine has: a browser, a Python, a package
 * index.
 *
 * <p>Where it is missing, the test is skipped and says what is missing. Where the variable {@code
 * CI} is {@code true} the test fails instead, so that continuous integration can't lose a test
 * without anybody's noticing. All tests ask here, and none of them JUnit's or AssertJ's assumptions
 * (cli's {@code TestRules} sees to it).
 */
public final class Needs {
  /** Set it to run what fetches much from the network at each run. */
  public static final String ONLINE_VARIABLE = "FLOTILLA_TEST_ONLINE";

  /** System property: the folder of what tests fetch once and keep. */
  public static final String CACHE_PROPERTY = "flotilla.test.cache";

  /** System property: the folder of cases that are their owners' and no part of the project. */
  public static final String CASES_PROPERTY = "flotilla.cases";

  private Needs() {}

  /** Goes on if it is there; {@code missing} says what is not, and how to get it. */
  public static void that(boolean there, String missing) {
    decide(there, missing, inContinuousIntegration());
  }

  /** Goes on where there is no reason against it. */
  public static void nothingMissing(Optional<String> whyAbsent) {
    that(whyAbsent.isEmpty(), whyAbsent.orElse(""));
  }

  /** Goes on where the package index of this machine's pip answers. */
  public static void packageIndex() {
    nothingMissing(Python.whyNoIndex());
  }

  /** Goes on where so large a download, at each run, was asked for. */
  public static void download(String what) {
    that(
        inContinuousIntegration() || System.getenv(ONLINE_VARIABLE) != null,
        "leave to fetch " + what + " at each run: set " + ONLINE_VARIABLE + "=1");
  }

  /**
   * Where tests keep what they fetch once, engines and models among it: {@code
   * -Dflotilla.test.cache=FOLDER}, else {@code ~/.cache/flotilla-test}. Several runs may share it.
   */
  public static Path cache() {
    String named = System.getProperty(CACHE_PROPERTY, "");
    return named.isEmpty()
        ? Path.of(System.getProperty("user.home"), ".cache", "flotilla-test")
        : Path.of(named).toAbsolutePath();
  }

  /**
   * A folder of cases, {@code -Dflotilla.cases=FOLDER} with this name in it. Unlike all else it is
   * nothing that can be installed, so without the property the test is skipped with {@code CI=true}
   * too; what {@code .ci/run} says tells whether they ran.
   */
  public static Path cases(String name) {
    String named = System.getProperty(CASES_PROPERTY, "");
    decide(
        !named.isEmpty(),
        "folder of cases that are no part of the project: -D" + CASES_PROPERTY + "=FOLDER",
        false);
    Path folder = Path.of(named).toAbsolutePath().resolve(name);
    if (!Files.isDirectory(folder)) {
      throw new AssertionFailedError("-D" + CASES_PROPERTY + " has no folder " + folder);
    }
    return folder;
  }

  static void decide(boolean there, String missing, boolean mustRun) {
    if (there) {
      return;
    }
    if (mustRun) {
      throw new AssertionFailedError("with CI=true nothing is skipped, but there is no " + missing);
    }
    throw new TestAbortedException("skipped, for want of " + missing);
  }

  private static boolean inContinuousIntegration() {
    return "true".equals(System.getenv("CI"));
  }
}
