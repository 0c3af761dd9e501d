package dev.flotilla.bench.dataset;

import java.util.List;

/**
 * The prompts of a run, in the order in which they are sent.
 *
 * @param description for reports: the dataset with what shaped it, such as {@code random 256 in 128
 *     out}
 * @param prompts at least one
 * @param notes what a person should know of how they came about, one sentence each: how tokens were
 *     counted, what was left out, what was drawn twice
 */
public record Dataset(String description, List<Prompt> prompts, List<String> notes) {

  public Dataset {
    prompts = List.copyOf(prompts);
    notes = List.copyOf(notes);
    if (prompts.isEmpty()) {
      throw new IllegalArgumentException("a dataset has at least one prompt");
    }
  }
}
