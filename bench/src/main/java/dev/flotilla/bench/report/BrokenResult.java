package dev.flotilla.bench.report;

import java.io.IOException;

/** A file that was to hold results does not; the message names it and what is wrong with it. */
public final class BrokenResult extends IOException {

  BrokenResult(String message) {
    super(message);
  }

  BrokenResult(String message, Throwable cause) {
    super(message, cause);
  }
}
