@NullMarked
package dev.flotilla.bench.arms;

import org.jspecify.annotations.NullMarked;
