/** Reports of measurements that were sent here to be kept and shown. */
@NullMarked
package dev.flotilla.hub.reports;

import org.jspecify.annotations.NullMarked;
