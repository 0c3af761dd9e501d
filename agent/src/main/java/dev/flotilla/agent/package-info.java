/** One process per machine: node facts, model store, engine adapters, supervision, lanes. */
@NullMarked
package dev.flotilla.agent;

import org.jspecify.annotations.NullMarked;
