/**
 * {@code /api/*}: what the command line and the dashboard ask and command. Lists are JSON arrays,
 * refusals have OpenAI's error body.
 */
@NullMarked
package dev.flotilla.hub.api;

import org.jspecify.annotations.NullMarked;
