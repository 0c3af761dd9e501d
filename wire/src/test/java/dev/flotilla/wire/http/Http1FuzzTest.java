package dev.flotilla.wire.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Replies of real servers, mutated, and cut up as a network may cut them. Whatever comes, the
 * client ends, with a result or one of its two exceptions, the same for every cut, within its
 * limits.
 */
@Timeout(120)
class Http1FuzzTest {
  private static final long SEED = 20260117;
  private static final int MUTATIONS = 20_000;
  private static final long BYTES_PER_REPLY_MAX = 512 << 10;

  private static final List<String> REPLIES =
      List.of(
          "HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: \r\nServer: llama.cpp\r\nKeep-Alive: timeout=5,"
              + " max=100\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length:"
              + " 48\r\n\r\n{\"choices\":[{\"finish_reason\":\"stop\",\"index\":0}]}",
          "HTTP/1.1 200 OK\r\nServer: llama.cpp\r\nTransfer-Encoding: chunked\r\nContent-Type:"
              + " text/event-stream\r\n\r\n1f\r\ndata: {\"a\":\"00000000000000\"}\n\n\r\n1f\r\ndata:"
              + " {\"a\":\"00000000000000\"}\n\n\r\ne\r\ndata: [DONE]\n\n\r\n0\r\n\r\n",
          "HTTP/1.1 200 OK\r\ndate: Sat, 17 Jan 2026 10:00:00 GMT\r\nserver: uvicorn\r\ncontent-type:"
              + " text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\nE;x=y\r\ndata:"
              + " [DONE]\n\n\r\n0\r\nX-T: 1\r\n\r\n",
          "HTTP/1.0 200 OK\r\nServer: BaseHTTP/0.6 Python/3.11.7\r\nContent-Type:"
              + " application/json\r\n\r\n{\"all\":\"of it\"}",
          "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nConnection:"
              + " close\r\n\r\n{}",
          "HTTP/1.1 204 No Content\r\nServer: x\r\n\r\n",
          "HTTP/1.1 503\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n");

  private static final List<String> WORDS =
      List.of(
          "\r\n",
          "\n",
          "\r",
          "\r\n\r\n",
          ":",
          " ",
          "\t",
          "\u0000",
          "0",
          "1",
          "f",
          "ffffffff",
          ";",
          "Content-Length: 1\r\n",
          "Content-Length: 99999999999\r\n",
          "Transfer-Encoding: chunked\r\n",
          "HTTP/1.1 200 OK\r\n",
          "HTTP/1.1 102 X\r\n\r\n",
          "0\r\n\r\n",
          "Connection: close\r\n",
          "X: y\r\n ",
          "\u00ff",
          "7fffffffffffffff\r\n");

  @Test
  void everyCutOfARealReplyGivesTheSame() {
    for (String text : REPLIES) {
      byte[] reply = text.getBytes(ISO_8859_1);
      String whole = outcome(new PiecedConnection(reply));
      assertThat(outcome(new PiecedConnection(reply, () -> 1))).isEqualTo(whole);
      for (int place = 1; place < reply.length; place++) {
        assertThat(outcome(PiecedConnection.cutAt(reply, place)))
            .as("cut at %d of %s", place, text)
            .isEqualTo(whole);
      }
    }
  }

  @Test
  void everyTruncationOfARealReplyEnds() {
    for (String text : REPLIES) {
      for (int length = 0; length < text.length(); length++) {
        byte[] reply = text.substring(0, length).getBytes(ISO_8859_1);
        assertThat(outcome(new PiecedConnection(reply, () -> 1)))
            .isEqualTo(outcome(new PiecedConnection(reply)));
      }
    }
  }

  @Test
  void mutatedRepliesEndTheSameHoweverTheyAreCut() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    Random random = new Random(SEED);
    Map<String, Integer> ends = new HashMap<>();
    for (int i = 0; i < MUTATIONS; i++) {
      byte[] reply = mutated(random);
      long before = threads.getCurrentThreadAllocatedBytes();
      String whole = outcome(new PiecedConnection(reply));
      long allocated = threads.getCurrentThreadAllocatedBytes() - before;
      long seed = random.nextLong();
      Random pieces = new Random(seed);
      String cut = outcome(new PiecedConnection(reply, () -> 1 + pieces.nextInt(7)));
      assertThat(cut).as("mutation %d, pieces %d", i, seed).isEqualTo(whole);
      assertThat(allocated)
          .as("bytes allocated for mutation %d", i)
          .isLessThan(BYTES_PER_REPLY_MAX);
      ends.merge(whole.substring(0, whole.indexOf(' ')), 1, Integer::sum);
    }
    assertThat(ends.keySet()).containsExactlyInAnyOrder("whole", "cut", "malformed");
    assertThat(ends.values()).allMatch(count -> count > MUTATIONS / 20);
  }

  @Test
  void anEndlessReplyStaysWithinTheLimits() throws IOException {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    for (String endless : List.of("x", "X: y\r\n", "HTTP/1.1 200 OK\r\n", "\r\n", "\u0000")) {
      byte[] reply = ("HTTP/1.1 200 OK\r\n" + endless.repeat(1_000_000)).getBytes(ISO_8859_1);
      long before = threads.getCurrentThreadAllocatedBytes();
      String outcome = outcome(new PiecedConnection(reply));
      long allocated = threads.getCurrentThreadAllocatedBytes() - before;
      if (!endless.equals("\r\n")) {
        assertThat(outcome).startsWith("malformed");
        assertThat(allocated).isLessThan(BYTES_PER_REPLY_MAX);
      }
    }
  }

  private static byte[] mutated(Random random) {
    StringBuilder reply = new StringBuilder(REPLIES.get(random.nextInt(REPLIES.size())));
    int changes = 1 + random.nextInt(4);
    for (int i = 0; i < changes && !reply.isEmpty(); i++) {
      int at = random.nextInt(reply.length());
      int count = Math.min(1 + random.nextInt(8), reply.length() - at);
      switch (random.nextInt(6)) {
        case 0 -> reply.setCharAt(at, (char) random.nextInt(256));
        case 1 -> reply.delete(at, at + count);
        case 2 -> reply.insert(at, WORDS.get(random.nextInt(WORDS.size())));
        case 3 -> reply.insert(at, reply.substring(at, at + count));
        case 4 -> reply.setLength(at);
        default -> reply.insert(at, "y".repeat(random.nextInt(10) == 0 ? 9000 : 3));
      }
    }
    return reply.toString().getBytes(ISO_8859_1);
  }

  /** What a caller sees, without the words of a message. */
  private static String outcome(PiecedConnection connection) {
    ByteArrayOutputStream seen = new ByteArrayOutputStream();
    String head = "";
    try {
      HttpReply reply =
          new Http1(connection, "h", Http1Limits.DEFAULTS)
              .exchange(HttpCall.get("/", HttpHeaders.NONE));
      head = reply.status() + " " + reply.headers().size() + " ";
      byte[] buffer = new byte[512];
      for (int n; (n = reply.body().read(buffer)) >= 0; ) {
        assertThat(n).isPositive();
        if (seen.size() < 64 << 10) {
          seen.write(buffer, 0, n);
        }
      }
      return "whole " + head + seen.toString(ISO_8859_1);
    } catch (ReplyCutShort _) {
      return "cut short " + head + seen.toString(ISO_8859_1);
    } catch (ReplyMalformed _) {
      return "malformed " + head + seen.toString(ISO_8859_1);
    } catch (IOException e) {
      throw new AssertionError("an exception that nobody expects", e);
    }
  }
}
