/** The dashboard in a real browser, over real engines. */
@NullMarked
package dev.flotilla.cli.browser;

import org.jspecify.annotations.NullMarked;
