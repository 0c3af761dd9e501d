/** SQLite: revisions, nodes, tokens, keys, worker history, events and usage. */
@NullMarked
package dev.flotilla.hub.store;

import org.jspecify.annotations.NullMarked;
