/** Chat templates: an interpreter for what they use of Jinja, as Python renders it. */
@NullMarked
package dev.flotilla.gguf.template;

import org.jspecify.annotations.NullMarked;
