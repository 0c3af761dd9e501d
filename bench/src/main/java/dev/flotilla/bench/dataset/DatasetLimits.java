package dev.flotilla.bench.dataset;

import java.time.Duration;

/**
 * Every limit of making or reading prompts.
 *
 * @param promptsMax prompts of one run
 * @param tokensMax tokens of one random prompt, its prefix included, and of one answer
 * @param promptsBytesMax all prompts of a run together
 * @param entryBytesMax one line of a JSONL file, or one entry of a JSON array
 * @param entriesMax entries of a file that are read; the rest is left alone, and a note says so
 * @param entriesBytesMax what is kept of a file while its entries are drawn from
 * @param depthMax objects and lists within each other in a file
 * @param countTime one question to a server's tokenizer
 * @param generateTime one request that is made for its count of tokens alone
 * @param countBytesMax a text that a server is asked to count
 * @param checkedMax random prompts whose tokens are counted one by one, spread over the run; all of
 *     them where one of these is off
 * @param generatedCountsMax requests that are made for their count of tokens alone, in one run
 */
public record DatasetLimits(
    int promptsMax,
    int tokensMax,
    int promptsBytesMax,
    int entryBytesMax,
    int entriesMax,
    int entriesBytesMax,
    int depthMax,
    Duration countTime,
    Duration generateTime,
    int countBytesMax,
    int checkedMax,
    int generatedCountsMax) {

  public static final DatasetLimits DEFAULTS =
      new DatasetLimits(
          100_000,
          1_000_000,
          256 << 20,
          16 << 20,
          1_000_000,
          256 << 20,
          100,
          Duration.ofSeconds(10),
          Duration.ofMinutes(2),
          8 << 20,
          1_000,
          48);
}
