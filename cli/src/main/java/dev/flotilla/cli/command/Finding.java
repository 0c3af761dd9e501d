package dev.flotilla.cli.command;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One thing that the doctor looked at.
 *
 * @param found what is there, in words
 * @param remedy what to do, empty where nothing is to be done
 */
record Finding(String what, Verdict verdict, String found, String remedy) {
  private static final Pattern VERSION = Pattern.compile("Python (\\d+)\\.(\\d+)\\S*");
  private static final long PROGRAM_SECONDS_MAX = 20;

  /** How it is. */
  enum Verdict {
    GOOD("ok"),
    /** Works, but not as one would want. */
    CARE("care"),
    /** Keeps {@code flotilla up} from working. */
    MISSING("missing");

    private final String word;

    Verdict(String word) {
      this.word = word;
    }

    String word() {
      return word.toLowerCase(Locale.ROOT);
    }
  }

  /** The Python that models and engines can be fetched with. */
  static Finding python() {
    for (String program : List.of("python3", "python")) {
      Optional<String> version = ask(program, "--version");
      if (version.isEmpty()) {
        continue;
      }
      Matcher matcher = VERSION.matcher(version.get());
      boolean recent =
          matcher.find()
              && (Integer.parseInt(matcher.group(1)) > 3
                  || Integer.parseInt(matcher.group(2)) >= 10);
      if (!recent) {
        return new Finding(
            "Python",
            Verdict.CARE,
            version.get().strip() + " is too old",
            "3.10 or newer fetches the default model and engine; else pass --model FILE");
      }
      boolean pip = ask(program, "-m", "pip", "--version").isPresent();
      boolean venv = ask(program, "-c", "import venv, ensurepip").isPresent();
      if (pip && venv) {
        return new Finding("Python", Verdict.GOOD, version.get().strip() + ", with pip", "");
      }
      return new Finding(
          "Python",
          Verdict.CARE,
          version.get().strip() + " without " + (pip ? "venv" : "pip"),
          "Debian and WSL: sudo apt install python3-pip python3-venv; Fedora: sudo dnf install"
              + " python3-pip");
    }
    return new Finding(
        "Python",
        Verdict.CARE,
        "none found",
        "macOS: brew install python; Debian and WSL: sudo apt install python3-pip python3-venv;"
            + " Fedora: sudo dnf install python3-pip; or pass your own --model FILE and"
            + " --engine-path");
  }

  /** What the program prints, where it runs and ends well in time. */
  private static Optional<String> ask(String... command) {
    Process process = null;
    try {
      process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectInput(ProcessBuilder.Redirect.from(new java.io.File("/dev/null")))
              .start();
      byte[] said = process.getInputStream().readNBytes(4096);
      if (process.waitFor(PROGRAM_SECONDS_MAX, TimeUnit.SECONDS) && process.exitValue() == 0) {
        return Optional.of(new String(said, StandardCharsets.UTF_8));
      }
    } catch (IOException e) {
      // Not there: that is the answer.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      if (process != null) {
        process.destroyForcibly();
      }
    }
    return Optional.empty();
  }
}
