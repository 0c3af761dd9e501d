package dev.flotilla.wire.fleet;

import java.util.List;

/**
 * What an agent measured of its machine. Sizes are bytes; memory is what is there now, not what is
 * installed.
 *
 * @param host the machine's own host name
 * @param os {@code linux}, {@code macos} or {@code windows}; WSL is {@code linux} with {@code wsl}
 *     set
 * @param arch {@code x86_64}, {@code aarch64}, … as the operating system names it
 * @param wsl whether this Linux runs inside Windows
 * @param cpu the processor's name
 * @param physicalCores cores that do arithmetic of their own, at least 1
 * @param logicalCores processors that the operating system schedules on, at least 1
 * @param memoryTotalBytes memory installed (or the control group's limit, where that is lower)
 * @param memoryAvailableBytes free plus inactive memory at this moment
 * @param loadAverage processes that wanted to run over the last minute, negative where unknown
 * @param accelerators graphics processors found, empty where there are none
 * @param engines engines that this machine can start without installing anything
 */
public record NodeFacts(
    String host,
    String os,
    String osVersion,
    String arch,
    boolean wsl,
    String cpu,
    int physicalCores,
    int logicalCores,
    long memoryTotalBytes,
    long memoryAvailableBytes,
    double loadAverage,
    List<Accelerator> accelerators,
    List<EngineFacts> engines) {

  public NodeFacts {
    accelerators = List.copyOf(accelerators);
    engines = List.copyOf(engines);
  }

  /**
   * A graphics processor.
   *
   * @param vendor {@code nvidia}, {@code amd}, {@code apple}, {@code intel} or {@code other}
   * @param memoryTotalBytes its memory, 0 where unknown or shared with the machine
   * @param memoryFreeBytes free at this moment, -1 where the driver does not say
   */
  public record Accelerator(
      String vendor, String name, long memoryTotalBytes, long memoryFreeBytes) {}

  /**
   * An engine that is on the machine.
   *
   * @param engine the engine's word in a recipe, such as {@code llama-server}
   * @param path the program that would be started
   * @param version what the program says of itself, empty where it says nothing
   */
  public record EngineFacts(String engine, String path, String version) {}
}
