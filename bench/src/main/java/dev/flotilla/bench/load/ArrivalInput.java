package dev.flotilla.bench.load;

import dev.flotilla.wire.connection.Deadline;
import dev.flotilla.wire.http.ReplyMalformed;
import java.io.IOException;
import java.io.InputStream;
import java.util.function.LongSupplier;

/**
 * A reply's body that knows when it was last read from: every event that a read completed arrived
 * then, whatever time it takes to look at them one after the other.
 */
final class ArrivalInput extends InputStream {
  private final InputStream body;
  private final LongSupplier nanos;
  private final Deadline deadline;
  private final long bytesMax;
  private long bytes;
  private long arrivedAt;
  private boolean outputSeen;

  ArrivalInput(InputStream body, LongSupplier nanos, Deadline deadline, long bytesMax) {
    this.body = body;
    this.nanos = nanos;
    this.deadline = deadline;
    this.bytesMax = bytesMax;
    this.arrivedAt = nanos.getAsLong();
  }

  long arrivedAt() {
    return arrivedAt;
  }

  /** From now on the limit for a gap holds; until now it was the one for the first output. */
  void outputSeen() {
    outputSeen = true;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] into, int offset, int length) throws IOException {
    if (outputSeen) {
      deadline.awaitChunk();
    }
    int count = body.read(into, offset, length);
    arrivedAt = nanos.getAsLong();
    bytes += Math.max(0, count);
    if (bytes > bytesMax) {
      throw new ReplyMalformed("the reply is longer than " + bytesMax + " bytes");
    }
    return count;
  }
}
