/** How files and folders of ours are made. */
@NullMarked
package dev.flotilla.wire.files;

import org.jspecify.annotations.NullMarked;
