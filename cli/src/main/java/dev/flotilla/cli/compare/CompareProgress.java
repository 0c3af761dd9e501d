package dev.flotilla.cli.compare;

import dev.flotilla.cli.output.Shell;
import dev.flotilla.shape.probe.ProbeResult;

/** How far the two runs are, on a terminal: one line that is written over. For both threads. */
final class CompareProgress implements AutoCloseable {
  private static final String ERASE = "\r\u001b[K";

  private final Shell shell;
  private final int probes;
  private int byA;
  private int byB;

  CompareProgress(Shell shell, int probes) {
    this.shell = shell;
    this.probes = probes;
    show("");
  }

  synchronized void doneByA(ProbeResult result) {
    byA++;
    show(", A: " + result.probe().name());
  }

  synchronized void doneByB(ProbeResult result) {
    byB++;
    show(", B: " + result.probe().name());
  }

  private void show(String last) {
    if (shell.errIsTerminal()) {
      shell.err().print(ERASE + "A " + byA + ", B " + byB + " of " + probes + " probes" + last);
      shell.err().flush();
    }
  }

  @Override
  public synchronized void close() {
    if (shell.errIsTerminal()) {
      shell.err().print(ERASE);
      shell.err().flush();
    }
  }
}
