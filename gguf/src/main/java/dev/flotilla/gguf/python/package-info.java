/**
 * Python's values as templates have them, and what Python does with them: operators, order, slices,
 * methods, formats, printing.
 */
@NullMarked
package dev.flotilla.gguf.python;

import org.jspecify.annotations.NullMarked;
