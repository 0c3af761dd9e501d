package dev.flotilla.bench.launch;

/** Starts one kind of engine, or one that is told how to; afresh with each call. */
public interface EngineStart {

  /** What tables call it, such as {@code llama-server}. */
  String name();

  /** Whether each call gives a fresh server; an address that is given leads to one that runs. */
  boolean fresh();

  /**
   * Starts it, and returns when it answers. Blocks; loading a model may take minutes.
   *
   * @throws EngineNotStarted where it does not; then nothing of it is left running
   */
  StartedEngine start(Setting setting) throws EngineNotStarted, InterruptedException;
}
