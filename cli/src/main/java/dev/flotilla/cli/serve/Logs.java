package dev.flotilla.cli.serve;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.filter.ThresholdFilter;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.rolling.FixedWindowRollingPolicy;
import ch.qos.logback.core.rolling.RollingFileAppender;
import ch.qos.logback.core.rolling.SizeBasedTriggeringPolicy;
import ch.qos.logback.core.util.FileSize;
import dev.flotilla.cli.output.Failure;
import dev.flotilla.wire.files.OwnerOnly;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.LoggerFactory;

/**
 * Where a serving process writes what it does: all of it to {@code HOME/logs/NAME.log}, which is
 * turned over at {@value #FILE_MEBIBYTES} MiB and kept {@value #FILES_KEPT} times; warnings to the
 * console too.
 */
public final class Logs {
  private static final int FILE_MEBIBYTES = 10;
  private static final int FILES_KEPT = 4;

  private Logs() {}

  /**
   * Starts logging for this process.
   *
   * @param name of the file, without its ending
   * @param verbose whether details are written, and shown on the console
   * @return the log file
   */
  public static Path start(Path home, String name, boolean verbose) {
    Path folder = home.resolve("logs");
    try {
      Files.createDirectories(folder, OwnerOnly.folder());
    } catch (IOException e) {
      throw new Failure("can't make the log folder " + folder + ": " + e.getMessage(), e);
    }
    LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    context.reset();
    Path file = folder.resolve(name + ".log");
    Logger root = context.getLogger(Logger.ROOT_LOGGER_NAME);
    root.setLevel(Level.WARN);
    root.addAppender(fileAppender(context, file));
    root.addAppender(consoleAppender(context, verbose ? Level.DEBUG : Level.WARN));
    context.getLogger("dev.flotilla").setLevel(verbose ? Level.DEBUG : Level.INFO);
    // Says the same in other words, or speaks of the JVM's own affairs.
    context.getLogger("jdk.event.security").setLevel(Level.OFF);
    context.getLogger("java.lang.Runtime").setLevel(Level.OFF);
    return file;
  }

  /** For a process whose console is its log: warnings, and details where they are wanted. */
  static void console(boolean verbose) {
    LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    context.reset();
    Logger root = context.getLogger(Logger.ROOT_LOGGER_NAME);
    root.setLevel(Level.WARN);
    root.addAppender(consoleAppender(context, Level.DEBUG));
    context.getLogger("dev.flotilla").setLevel(verbose ? Level.DEBUG : Level.INFO);
    context.getLogger("java.lang.Runtime").setLevel(Level.OFF);
  }

  /** Writes what waits and closes the files. */
  public static void stop() {
    ((LoggerContext) LoggerFactory.getILoggerFactory()).stop();
  }

  private static RollingFileAppender<ILoggingEvent> fileAppender(LoggerContext context, Path file) {
    RollingFileAppender<ILoggingEvent> appender = new RollingFileAppender<>();
    appender.setContext(context);
    appender.setFile(file.toString());
    appender.setEncoder(
        encoder(context, "%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} %-5level %logger{0} - %msg%n%ex"));
    FixedWindowRollingPolicy rolling = new FixedWindowRollingPolicy();
    rolling.setContext(context);
    rolling.setParent(appender);
    rolling.setMinIndex(1);
    rolling.setMaxIndex(FILES_KEPT);
    rolling.setFileNamePattern(file + ".%i");
    rolling.start();
    SizeBasedTriggeringPolicy<ILoggingEvent> trigger = new SizeBasedTriggeringPolicy<>();
    trigger.setContext(context);
    trigger.setMaxFileSize(FileSize.valueOf(FILE_MEBIBYTES + "MB"));
    trigger.start();
    appender.setRollingPolicy(rolling);
    appender.setTriggeringPolicy(trigger);
    appender.start();
    return appender;
  }

  private static ConsoleAppender<ILoggingEvent> consoleAppender(LoggerContext context, Level from) {
    ConsoleAppender<ILoggingEvent> appender = new ConsoleAppender<>();
    appender.setContext(context);
    appender.setTarget("System.err");
    appender.setEncoder(encoder(context, "flotilla: %msg%n%nopex"));
    ThresholdFilter filter = new ThresholdFilter();
    filter.setLevel(from.toString());
    filter.start();
    appender.addFilter(filter);
    appender.start();
    return appender;
  }

  private static PatternLayoutEncoder encoder(LoggerContext context, String pattern) {
    PatternLayoutEncoder encoder = new PatternLayoutEncoder();
    encoder.setContext(context);
    encoder.setPattern(pattern);
    encoder.start();
    return encoder;
  }
}
