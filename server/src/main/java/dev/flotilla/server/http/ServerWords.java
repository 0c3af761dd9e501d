package dev.flotilla.server.http;

import dev.flotilla.wire.openai.ApiError;
import java.util.function.Supplier;

/**
 * What a server says of itself where it refuses what no handler has seen.
 *
 * @param name what it calls itself, such as {@code hub}
 * @param stopping the refusal of what is asked once the server stops
 * @param bodyTooLarge the refusal of a body that is larger than the server reads, as of now
 */
public record ServerWords(String name, ApiError stopping, Supplier<ApiError> bodyTooLarge) {}
