package dev.flotilla.agent.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.wire.fleet.NodeFacts;
import dev.flotilla.wire.fleet.NodeFacts.Accelerator;
import dev.flotilla.wire.fleet.NodeFacts.EngineFacts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NodeProbeTest {
  private static final long GIB = 1L << 30;

  @TempDir Path root;

  @Test
  void thisMachineIsMeasured() {
    EngineFacts engine = new EngineFacts("llama-server", "/bin/llama-server", "1");
    NodeFacts facts = new NodeProbe(() -> List.of(engine)).probe();

    assertThat(facts.host()).isNotBlank();
    assertThat(facts.os()).isIn("linux", "macos", "windows");
    assertThat(facts.osVersion()).isNotBlank();
    assertThat(facts.arch()).isIn("x86_64", "aarch64");
    assertThat(facts.physicalCores()).isBetween(1, facts.logicalCores());
    assertThat(facts.logicalCores())
        .isLessThanOrEqualTo(Runtime.getRuntime().availableProcessors());
    assertThat(facts.memoryAvailableBytes()).isBetween(1L, facts.memoryTotalBytes());
    assertThat(facts.engines()).containsExactly(engine);
  }

  @Test
  void aHeartbeatStartsNoProgramAndAsksForNoEngines() {
    AtomicInteger asked = new AtomicInteger();
    NodeProbe probe =
        new NodeProbe(
            () -> {
              asked.incrementAndGet();
              return List.of();
            },
            command -> {
              asked.incrementAndGet();
              return command.getFirst().equals("nvidia-smi")
                  ? Optional.of("NVIDIA GeForce RTX 4090, 24564, 23000\n")
                  : Optional.empty();
            });
    NodeFacts full = probe.probe();
    int before = asked.get();

    NodeFacts fresh = probe.refresh();
    assertThat(asked).hasValue(before);
    assertThat(fresh.accelerators()).isEqualTo(full.accelerators()).isNotEmpty();
  }

  @Test
  void nvidiaSaysNameAndMemoryInMebibytes() {
    assertThat(
            Accelerators.ofNvidia(
                """
                NVIDIA H200, 143771, 143153
                NVIDIA GB10, [N/A], [N/A]
                NVIDIA RTX A2000, Laptop, 4096, 4000

                """))
        .containsExactly(
            new Accelerator("nvidia", "NVIDIA H200", 143771L << 20, 143153L << 20),
            new Accelerator("nvidia", "NVIDIA GB10", 0, -1),
            new Accelerator("nvidia", "NVIDIA RTX A2000, Laptop", 4096L << 20, 4000L << 20));
    assertThat(Accelerators.ofNvidia("No devices were found\n")).isEmpty();
    assertThat(Accelerators.ofNvidia("")).isEmpty();
  }

  @Test
  void rocmSaysItAsJsonInTheSpellingsOfItsVersions() {
    assertThat(
            Accelerators.ofRocm(
                """
                {"card1": {"VRAM Total Memory (B)": "25753026560",
                  "VRAM Total Used Memory (B)": "26116096",
                  "Card Series": "Radeon RX 7900 XTX"},
                 "card0": {"Card series": "N/A", "Card model": "0x1002"},
                 "system": {"Driver version": "6.8"}}
                """))
        .containsExactly(
            new Accelerator("amd", "AMD graphics", 0, -1),
            new Accelerator("amd", "Radeon RX 7900 XTX", 25753026560L, 25753026560L - 26116096));
    assertThat(Accelerators.ofRocm("WARNING: no GPU")).isEmpty();
    assertThat(Accelerators.ofRocm("[]")).isEmpty();
  }

  @Test
  void withoutItsProgramsTheKernelNamesTheCards() throws IOException {
    card("card0", "0x1002", "25753026560", "1000");
    card("card1", "0x8086", "", "");
    card("card2", "0x1234", "16777216", "0");
    card("card0-DP-1", "0x1002", "1", "1");

    assertThat(Accelerators.ofKernel(root))
        .containsExactly(
            new Accelerator("amd", "amd graphics 0x744c", 25753026560L, 25753025560L),
            new Accelerator("intel", "intel graphics 0x744c", 0, -1));
    assertThat(Accelerators.ofKernel(root.resolve("none"))).isEmpty();
  }

  @Test
  void vendorsAreKnownByTheirNames() {
    assertThat(Accelerators.vendor("Apple (0x106b) Apple M4 Max")).isEqualTo("apple");
    assertThat(Accelerators.vendor("Advanced Micro Devices, Inc. [AMD/ATI]")).isEqualTo("amd");
    assertThat(Accelerators.vendor("NVIDIA Corporation")).isEqualTo("nvidia");
    assertThat(Accelerators.vendor("Red Hat virtio")).isEqualTo("other");
  }

  @Test
  void theTightestLimitOfTheControlGroupsCounts() throws IOException {
    put("proc/self/cgroup", "0::/system.slice/app.service\n");
    put("sys/fs/cgroup/system.slice/memory.max", "" + 8 * GIB);
    put("sys/fs/cgroup/system.slice/memory.current", "" + 7 * GIB);
    put("sys/fs/cgroup/system.slice/memory.stat", "anon 5\ninactive_file " + 2 * GIB + "\n");
    put("sys/fs/cgroup/system.slice/app.service/memory.max", "max");
    put("sys/fs/cgroup/system.slice/app.service/memory.current", "" + GIB);

    assertThat(ControlGroup.find(root).flatMap(ControlGroup::memory))
        .contains(new ControlGroup.Memory(8 * GIB, 3 * GIB));
  }

  @Test
  void theFirstVersionOfControlGroupsIsReadToo() throws IOException {
    put("proc/self/cgroup", "4:cpu,memory:/docker/x\n0::/\n");
    put("sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes", "" + 4 * GIB);
    put("sys/fs/cgroup/memory/docker/x/memory.usage_in_bytes", "" + 5 * GIB);
    put("sys/fs/cgroup/memory/docker/x/memory.stat", "inactive_file 1\ntotal_inactive_file 2\n");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");

    assertThat(ControlGroup.find(root).flatMap(ControlGroup::memory))
        .contains(new ControlGroup.Memory(4 * GIB, 0));
  }

  @Test
  void withoutALimitThereIsNone() throws IOException {
    assertThat(ControlGroup.find(root)).isEmpty();
    put("proc/self/cgroup", "0::/\n");
    assertThat(ControlGroup.find(root).flatMap(ControlGroup::memory)).isEmpty();
    put("proc/self/cgroup", "0::/../../outside\n");
    assertThat(ControlGroup.find(root).flatMap(ControlGroup::memory)).isEmpty();
  }

  @Test
  void systemsAndArchitecturesHaveOneWordEach() {
    assertThat(NodeProbe.os("Mac OS X")).isEqualTo("macos");
    assertThat(NodeProbe.os("Windows 11")).isEqualTo("windows");
    assertThat(NodeProbe.os("Linux")).isEqualTo("linux");
    assertThat(NodeProbe.arch("amd64")).isEqualTo("x86_64");
    assertThat(NodeProbe.arch("arm64")).isEqualTo("aarch64");
    assertThat(NodeProbe.arch("riscv64")).isEqualTo("riscv64");
  }

  @Test
  void aProgramThatHangsIsEnded() throws Exception {
    assertThat(BoundedProcess.run(List.of("sleep", "600"), Duration.ofMillis(50))).isEmpty();
    assertThat(
            BoundedProcess.run(
                List.of("sh", "-c", "echo out; echo err >&2; exit 3"), Duration.ofSeconds(30)))
        .contains(new BoundedProcess.Finished(3, "out\n", "err\n"));
  }

  private void card(String name, String vendor, String total, String used) throws IOException {
    String device = "sys/class/drm/" + name + "/device/";
    put(device + "vendor", vendor + "\n");
    put(device + "device", "0x744c\n");
    if (!total.isEmpty()) {
      put(device + "mem_info_vram_total", total + "\n");
      put(device + "mem_info_vram_used", used + "\n");
    }
  }

  private void put(String file, String text) throws IOException {
    Path path = root.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
  }
}
