package dev.flotilla.engine.grammar;

import java.util.List;

/**
 * What stands around the values of an answer.
 *
 * @param before what comes first
 * @param again what stands between one value and the next; empty where there is one
 * @param after what comes last
 * @param marks parts of these texts that are written as one token where the vocabulary has a
 *     control token of that name, as the model learnt them
 */
public record Frame(String before, String again, String after, List<String> marks) {
  /** As it is given. */
  public Frame {
    marks = List.copyOf(marks);
  }
}
