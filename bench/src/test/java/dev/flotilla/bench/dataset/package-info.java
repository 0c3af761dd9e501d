@NullMarked
package dev.flotilla.bench.dataset;

import org.jspecify.annotations.NullMarked;
