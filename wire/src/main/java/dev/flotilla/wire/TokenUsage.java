package dev.flotilla.wire;

/**
 * The {@code usage} object of a reply, in tokens.
 *
 * @param promptTokens all tokens of the prompt, cached ones included
 * @param completionTokens tokens generated, 0 for embeddings
 * @param cachedTokens of the prompt, those that the engine had already; -1 where it does not say
 */
public record TokenUsage(long promptTokens, long completionTokens, long cachedTokens) {}
