package dev.flotilla.agent.node;

import dev.flotilla.wire.fleet.NodeFacts.Accelerator;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Reads what drivers say of graphics processors. Pure but for the files of {@link #ofKernel}. */
final class Accelerators {

  /** The question that {@link #ofNvidia} reads the answer of. */
  static final List<String> NVIDIA_ARGUMENTS =
      List.of("--query-gpu=name,memory.total,memory.free", "--format=csv,noheader,nounits");

  /** The question that {@link #ofRocm} reads the answer of. */
  static final List<String> ROCM_ARGUMENTS =
      List.of("--showproductname", "--showmeminfo", "vram", "--json");

  private static final int ACCELERATORS_MAX = 64;

  private Accelerators() {}

  /** Lines of {@code NAME, MiB, MiB}; a memory that the driver does not know is {@code [N/A]}. */
  static List<Accelerator> ofNvidia(String csv) {
    List<Accelerator> found = new ArrayList<>();
    for (String line : csv.split("\n", -1)) {
      int second = line.lastIndexOf(',');
      int first = line.lastIndexOf(',', second - 1);
      if (first <= 0 || found.size() == ACCELERATORS_MAX) {
        continue;
      }
      long total = mebibytes(line.substring(first + 1, second));
      long free = mebibytes(line.substring(second + 1));
      found.add(
          new Accelerator("nvidia", line.substring(0, first).strip(), Math.max(0, total), free));
    }
    return found;
  }

  /** An object with one object per card; numbers are strings, keys differ between versions. */
  static List<Accelerator> ofRocm(String json) {
    List<Accelerator> found = new ArrayList<>();
    try {
      JsonNode cards = JsonMapper.shared().readTree(json);
      TreeMap<String, JsonNode> sorted = new TreeMap<>();
      cards.properties().forEach(card -> sorted.put(card.getKey(), card.getValue()));
      sorted.forEach((card, facts) -> {
        if (card.startsWith("card") && found.size() < ACCELERATORS_MAX) {
          long total = bytes(facts, "VRAM Total Memory (B)");
          long used = bytes(facts, "VRAM Total Used Memory (B)");
          found.add(
              new Accelerator(
                  "amd",
                  name(facts),
                  Math.max(0, total),
                  total >= 0 && used >= 0 ? Math.max(0, total - used) : -1));
        }
      });
    } catch (JacksonException e) {
      return List.of();
    }
    return found;
  }

  /**
   * What the Linux kernel's graphics drivers say in {@code /sys/class/drm}; no program is started.
   * NVIDIA's own driver says nothing there, and cards that only draw a console are left out.
   *
   * @param root {@code /} but for tests
   */
  static List<Accelerator> ofKernel(Path root) {
    List<Accelerator> found = new ArrayList<>();
    TreeMap<String, Path> cards = new TreeMap<>();
    try (DirectoryStream<Path> all =
        Files.newDirectoryStream(root.resolve("sys/class/drm"), "card*")) {
      for (Path card : all) {
        String name = String.valueOf(card.getFileName());
        if (name.matches("card\\d{1,3}")) {
          cards.put(name, card.resolve("device"));
        }
      }
    } catch (IOException e) {
      return List.of();
    }
    for (Path device : cards.values()) {
      String vendor =
          switch (text(device.resolve("vendor"))) {
            case "0x1002" -> "amd";
            case "0x8086" -> "intel";
            default -> "";
          };
      if (!vendor.isEmpty() && found.size() < ACCELERATORS_MAX) {
        long total = number(text(device.resolve("mem_info_vram_total")));
        long used = number(text(device.resolve("mem_info_vram_used")));
        String product = text(device.resolve("product_name"));
        found.add(
            new Accelerator(
                vendor,
                product.isEmpty()
                    ? vendor + " graphics " + text(device.resolve("device"))
                    : product,
                Math.max(0, total),
                total >= 0 && used >= 0 ? Math.max(0, total - used) : -1));
      }
    }
    return found;
  }

  /** The word for a vendor, from a name in a driver's own spelling. */
  static String vendor(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    for (String vendor : List.of("nvidia", "amd", "apple", "intel")) {
      if (lower.contains(vendor)) {
        return vendor;
      }
    }
    return lower.contains("advanced micro devices") || lower.contains("0x1002") ? "amd" : "other";
  }

  private static String name(JsonNode facts) {
    for (String key : List.of("Card Series", "Card series", "Card Model", "Card model")) {
      String name = facts.path(key).asString("").strip();
      if (!name.isEmpty() && !name.startsWith("0x") && !name.equals("N/A")) {
        return name;
      }
    }
    return "AMD graphics";
  }

  private static long bytes(JsonNode facts, String key) {
    return number(facts.path(key).asString(""));
  }

  private static long mebibytes(String text) {
    long number = number(text.strip());
    return number < 0 ? -1 : number << 20;
  }

  private static long number(String text) {
    return text.matches("\\d{1,15}") ? Long.parseLong(text) : -1;
  }

  private static String text(Path file) {
    try {
      return Files.readString(file).strip();
    } catch (IOException e) {
      return "";
    }
  }
}
