package dev.flotilla.wire.process;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.List;

/**
 * This process becomes another program, with its process id, its children, its standard streams and
 * its environment: Java has no exec, so the C library's {@code execv} is called, which {@code
 * --enable-native-access} has to allow. No shutdown hook runs.
 */
public final class Execute {
  private Execute() {}

  /**
   * Does not return.
   *
   * @param command the program's path, then its arguments
   * @throws IllegalStateException where the system refuses it, or has no such call
   */
  @SuppressWarnings("restricted") // That is what it is for.
  public static void command(List<String> command) {
    Linker linker = Linker.nativeLinker();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment words = arena.allocate(ValueLayout.ADDRESS, command.size() + 1L);
      for (int i = 0; i < command.size(); i++) {
        words.setAtIndex(ValueLayout.ADDRESS, i, arena.allocateFrom(command.get(i)));
      }
      words.setAtIndex(ValueLayout.ADDRESS, command.size(), MemorySegment.NULL);
      System.out.flush();
      MethodHandle execv =
          linker.downcallHandle(
              linker
                  .defaultLookup()
                  .find("execv")
                  .orElseThrow(() -> new IllegalStateException("this system has no execv")),
              FunctionDescriptor.of(
                  ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS));
      int failed = call(execv, arena.allocateFrom(command.getFirst()), words);
      throw new IllegalStateException("execv came back with " + failed);
    }
  }

  private static int call(MethodHandle execv, MemorySegment path, MemorySegment words) {
    try {
      return (int) execv.invokeExact(path, words);
    } catch (Throwable checked) {
      throw new IllegalStateException(checked);
    }
  }
}
