package dev.flotilla.cli;

import dev.flotilla.cli.update.LaunchFolder;
import picocli.CommandLine.IVersionProvider;

/** Says which flotilla this is, on which Java. */
public final class Version implements IVersionProvider {

  /**
   * What the build or release that this runs from is called, such as {@code 0.1.0+412.g4cad8a3};
   * empty where it runs from class files.
   */
  public static String number() {
    String version = Main.class.getPackage().getImplementationVersion();
    return LaunchFolder.ofThisProcess()
        .flatMap(LaunchFolder::version)
        .orElse(version == null ? "" : version);
  }

  @Override
  public String[] getVersion() {
    String number = number().isEmpty() ? "(from class files)" : number();
    return new String[] {"flotilla " + number + ", Java " + Runtime.version()};
  }
}
