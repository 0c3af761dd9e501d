/** What a recipe may make this machine do; the hub cannot change it. */
@NullMarked
package dev.flotilla.agent.policy;

import org.jspecify.annotations.NullMarked;
