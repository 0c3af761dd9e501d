package dev.flotilla.cli;

import picocli.CommandLine.IVersionProvider;

/** Says which flotilla this is, on which Java. */
public final class Version implements IVersionProvider {

  /** The version of the jar; empty where it runs from class files. */
  public static String number() {
    String version = Main.class.getPackage().getImplementationVersion();
    return version == null ? "" : version;
  }

  @Override
  public String[] getVersion() {
    String number = number().isEmpty() ? "(from class files)" : number();
    return new String[] {"flotilla " + number + ", Java " + Runtime.version()};
  }
}
