@NullMarked
package dev.flotilla.cli.compare;

import org.jspecify.annotations.NullMarked;
