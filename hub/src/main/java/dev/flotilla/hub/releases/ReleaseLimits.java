package dev.flotilla.hub.releases;

import dev.flotilla.wire.release.Release;

/**
 * What a hub keeps of releases.
 *
 * @param bytesMax one release's file
 * @param kept releases; the oldest version goes
 * @param diskReserveBytes what stays free on the disk
 */
public record ReleaseLimits(long bytesMax, int kept, long diskReserveBytes) {

  public static final ReleaseLimits DEFAULT = new ReleaseLimits(Release.BYTES_MAX, 4, 256L << 20);
}
