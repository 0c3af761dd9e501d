package dev.flotilla.engine;

/** The end of a thread, waited for also where the waiting one is told to give up. */
public final class ThreadEnd {
  private ThreadEnd() {}

  /**
   * Returns when the thread runs no more; an interrupt meanwhile is kept for whoever asks later.
   */
  public static void await(Thread thread) {
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException later) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
