package dev.flotilla.hub.ui;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The page's scripts and styles: a fixed list, read from the class path once. Each has an address
 * that holds part of its hash, so that a browser may keep it for ever and a new version is another
 * address.
 */
final class Assets {
  /** A file as it is sent; all are text. */
  record Asset(String content, String type, String hash) {}

  private static final String SCRIPT = "text/javascript; charset=utf-8";
  private final Map<String, Asset> byName = new LinkedHashMap<>();

  Assets() {
    for (String name : List.of("htmx.min.js", "hx-sse.min.js", "dashboard.js")) {
      byName.put(name, read(name, SCRIPT));
    }
    byName.put("dashboard.css", read("dashboard.css", "text/css; charset=utf-8"));
    byName.put("icon.svg", read("icon.svg", "image/svg+xml"));
  }

  /** What the page puts into {@code src} or {@code href}. */
  String address(String name) {
    Asset asset = byName.get(name);
    if (asset == null) {
      throw new IllegalArgumentException("no asset " + name);
    }
    return "/ui/assets/" + name + "?v=" + asset.hash();
  }

  Optional<Asset> find(String name) {
    return Optional.ofNullable(byName.get(name));
  }

  private static Asset read(String name, String type) {
    try (InputStream in = Assets.class.getResourceAsStream("assets/" + name)) {
      if (in == null) {
        throw new IllegalStateException("the dashboard's file " + name + " is not in the jar");
      }
      byte[] content = in.readAllBytes();
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(content);
      return new Asset(
          new String(content, StandardCharsets.UTF_8),
          type,
          HexFormat.of().formatHex(digest, 0, 6));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
