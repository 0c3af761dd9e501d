package dev.flotilla.wire.lanes;

import dev.flotilla.wire.text.Names;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/**
 * The lines that open a work lane, before it becomes raw bytes: {@code OPEN WORKER GENERATION} by
 * the hub, {@code OPENED} or {@code REFUSED REASON} by the agent.
 */
public sealed interface LaneLine {
  /** A line, its end included. */
  int LINE_BYTES_MAX = 512;

  /** Characters of a reason that are sent. */
  int REASON_CHARS_MAX = 200;

  /** Asks for a tunnel to that launch of that worker. */
  record Open(String worker, long generation) implements LaneLine {
    public Open {
      Names.workerProblem(worker)
          .ifPresent(problem -> {
            throw new IllegalArgumentException(problem);
          });
      if (generation < 0) {
        throw new IllegalArgumentException("generation " + generation + " is negative");
      }
    }
  }

  /** From here on, bytes. */
  record Opened() implements LaneLine {}

  /** No tunnel, and why; the lane is closed. */
  record Refused(String reason) implements LaneLine {
    /** Line ends and other control characters become spaces, and a long reason is cut. */
    public Refused {
      StringBuilder clean = new StringBuilder();
      for (int i = 0; i < reason.length() && i < REASON_CHARS_MAX; i++) {
        char c = reason.charAt(i);
        clean.append(c < ' ' || c >= 0x7f ? ' ' : c);
      }
      reason = clean.toString().strip();
    }
  }

  /** The line with its end, in ASCII. */
  default byte[] format() {
    String line =
        switch (this) {
          case Open open -> "OPEN " + open.worker() + " " + open.generation() + "\n";
          case Opened _ -> "OPENED\n";
          case Refused refused -> "REFUSED " + refused.reason() + "\n";
        };
    return line.getBytes(StandardCharsets.US_ASCII);
  }

  /**
   * Reads one line and not a byte more: what follows belongs to the tunnel.
   *
   * @throws LaneMalformed if it is none of the three, too long, or ends within
   */
  static LaneLine read(InputStream in) throws IOException {
    byte[] line = new byte[LINE_BYTES_MAX];
    int length = 0;
    for (int c; (c = in.read()) != '\n'; ) {
      if (c < 0) {
        throw new LaneMalformed(
            length == 0 ? "the lane ended before it was opened" : "the lane ended within a line");
      }
      if (length == LINE_BYTES_MAX - 1) {
        throw new LaneMalformed("a lane's line is longer than " + LINE_BYTES_MAX + " bytes");
      }
      line[length++] = (byte) c;
    }
    return parse(new String(line, 0, length, StandardCharsets.ISO_8859_1));
  }

  /**
   * The line, given without its end.
   *
   * @throws LaneMalformed if it is none of the three
   */
  static LaneLine parse(String line) throws LaneMalformed {
    if (line.equals("OPENED")) {
      return new Opened();
    }
    if (line.equals("REFUSED") || line.startsWith("REFUSED ")) {
      return new Refused(line.substring("REFUSED".length()));
    }
    if (line.startsWith("OPEN ")) {
      int space = line.lastIndexOf(' ');
      String worker = space > 5 ? line.substring(5, space) : "";
      String generation = line.substring(space + 1);
      if (Names.workerProblem(worker).isEmpty() && generation.matches("[0-9]{1,18}")) {
        return new Open(worker, Long.parseLong(generation));
      }
    }
    throw new LaneMalformed("a lane's line is neither OPEN, OPENED nor REFUSED as it should be");
  }
}
