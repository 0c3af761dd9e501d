package dev.flotilla.agent.update;

import dev.flotilla.wire.release.Release;
import dev.flotilla.wire.release.ReleaseKey;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** Releases for tests, made as anybody who has a key could make them. */
final class Archives {
  static final ReleaseKey.Pair PAIR = ReleaseKey.generate();

  private Archives() {}

  /** What every release of that version has. */
  static Map<String, byte[]> contents(String version) {
    Map<String, byte[]> contents = new LinkedHashMap<>();
    contents.put("flotilla", bytes("#!/bin/sh\nexit 0\n"));
    contents.put("java.options", bytes("-Xmx64m\n"));
    contents.put("builtin.options", bytes("-Xmx192m\n"));
    contents.put("version", bytes(version + "\n"));
    contents.put("lib/flotilla-cli.jar", new byte[300_000]);
    return contents;
  }

  static byte[] zip(Map<String, byte[]> contents) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(out)) {
      for (Map.Entry<String, byte[]> each : contents.entrySet()) {
        zip.putNextEntry(new ZipEntry(each.getKey()));
        zip.write(each.getValue());
        zip.closeEntry();
      }
    }
    return out.toByteArray();
  }

  static Release release(String version, byte[] file) throws Exception {
    return release(version, file, PAIR);
  }

  static Release release(String version, byte[] file, ReleaseKey.Pair signer) throws Exception {
    String digest = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(file));
    Release unsigned = new Release(version, file.length, digest, "");
    return new Release(
        version, file.length, digest, ReleaseKey.sign(signer.privatePem(), unsigned.signedBytes()));
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
