package dev.flotilla.engine.start;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;

/**
 * What this process takes beside weights and cache, in bytes, as it was measured after steps of the
 * largest shape.
 *
 * @param heap the whole heap, which is fixed and touched when the process starts
 * @param heapUsed of the heap, what is in use: the working buffers, the tokenizer's tables
 * @param codeCache what the compilers made
 * @param metaspace classes
 * @param stacks of threads
 * @param rest of what the process takes: compilers at work, the collector, the program itself
 */
record ProcessMemory(
    long heap, long heapUsed, long codeCache, long metaspace, long stacks, long rest) {

  /** Of a thread's stack, what steps and requests touch. */
  private static final long STACK_TOUCHED = 96 << 10;

  /**
   * What compilers and classes still grow by under load, after the first steps were measured: more
   * of the code is compiled then.
   */
  static final long CODE_GROWTH = 12L << 20;

  static final long COMPILER_GROWTH = 16L << 20;

  /** Where the system does not say how much a process takes: the program and its compilers. */
  private static final long REST_UNKNOWN = 96L << 20;

  /**
   * Measures this process.
   *
   * @param known bytes of weights and cache that it holds at the moment
   */
  static ProcessMemory measure(long known) {
    Runtime runtime = Runtime.getRuntime();
    System.gc(); // so that what is in use is what is needed
    long heap = runtime.totalMemory();
    long code = 0;
    long metaspace = 0;
    for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
      if (pool.getType() == MemoryType.NON_HEAP) {
        long used = pool.getUsage().getUsed();
        if (pool.getName().startsWith("Code")) {
          code += used;
        } else {
          metaspace += used;
        }
      }
    }
    long stacks = ManagementFactory.getThreadMXBean().getThreadCount() * STACK_TOUCHED;
    long resident = Machine.residentBytes();
    long rest =
        resident < 0
            ? REST_UNKNOWN
            : Math.max(0, resident - known - heap - code - metaspace - stacks);
    return new ProcessMemory(
        heap,
        heap - runtime.freeMemory(),
        code + CODE_GROWTH,
        metaspace,
        stacks,
        rest + COMPILER_GROWTH);
  }

  long bytes() {
    return heap + codeCache + metaspace + stacks + rest;
  }
}
