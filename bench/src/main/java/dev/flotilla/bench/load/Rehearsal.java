package dev.flotilla.bench.load;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.flotilla.bench.dataset.Prompt;
import dev.flotilla.bench.dataset.Prompt.Input;
import dev.flotilla.bench.measure.Load;
import dev.flotilla.wire.http.HttpHeaders;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A run on a server of its own, in the same process, before anything is measured: a JVM compiles
 * what runs often, and until it has, the first requests of a run would be read some ten
 * milliseconds late. Nothing of it is kept, and none of it reaches the server under test.
 *
 * <p>It ends after so many requests or so much time, whichever comes first. That it can't be held,
 * such as where no port of the loopback is free, is no failure of the run.
 */
public final class Rehearsal {
  private static final Duration TIME_MAX = Duration.ofMillis(800);
  private static final int REQUESTS = 600;
  private static final int CONCURRENCY = 8;
  private static final int EVENTS = 40;
  private static final int REQUEST_BYTES = 64 << 10;

  private static final byte[] HEAD =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
          .getBytes(UTF_8);

  private static final byte[] EVENT =
      chunk(
          "{\"id\":\"chatcmpl-0\",\"object\":\"chat.completion.chunk\",\"created\":0,\"model\":\"m\","
              + "\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"},\"logprobs\":null,"
              + "\"finish_reason\":null}],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":1}}");

  private static final byte[] END =
      concatenated(
          chunk(
              "{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],"
                  + "\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":40}}"),
          chunk("[DONE]"),
          "0\r\n\r\n".getBytes(UTF_8));

  private Rehearsal() {}

  /** Holds it; returns when it is over. */
  public static void hold() throws InterruptedException {
    try (ServerSocket listener = new ServerSocket(0, 64, InetAddress.getLoopbackAddress())) {
      Thread.ofVirtual().name("rehearsal").start(() -> accept(listener));
      URI url = URI.create("http://127.0.0.1:" + listener.getLocalPort() + "/v1");
      ServerUnderTest server =
          new ServerUnderTest(url, Optional.empty(), HttpHeaders.NONE, Optional.empty());
      LoadPlan plan = new LoadPlan(new Arrivals.AtOnce(), CONCURRENCY, 0, Optional.of(TIME_MAX));
      Load load =
          new Load(
              url.toString(),
              "m",
              "openai-chat",
              "rehearsal",
              REQUESTS,
              CONCURRENCY,
              Double.POSITIVE_INFINITY,
              1,
              0);
      new LoadGenerator(
              server, new RequestForm(Endpoint.OPENAI_CHAT, "m"), LoadLimits.DEFAULTS, true)
          .run(load, plan, prompts(), new Progress());
    } catch (IOException e) {
      System.getLogger(Rehearsal.class.getName())
          .log(System.Logger.Level.DEBUG, "no rehearsal: {0}", e.getMessage());
    }
  }

  private static List<Prompt> prompts() {
    List<Prompt> prompts = new ArrayList<>();
    for (int i = 0; i < REQUESTS; i++) {
      prompts.add(
          new Prompt("rehearsal-" + i, new Input.Text("Hi"), 1, EVENTS, false, Optional.empty()));
    }
    return prompts;
  }

  private static void accept(ServerSocket listener) {
    while (true) {
      try {
        Socket socket = listener.accept();
        Thread.ofVirtual().name("rehearsal-reply").start(() -> serve(socket));
      } catch (IOException _) {
        // It is over.
        return;
      }
    }
  }

  private static void serve(Socket socket) {
    byte[] request = new byte[REQUEST_BYTES];
    try (socket) {
      socket.setTcpNoDelay(true);
      InputStream in = socket.getInputStream();
      OutputStream out = socket.getOutputStream();
      while (in.read(request) > 0) {
        // One write is one request here: the only client writes each so, and both are this process.
        out.write(HEAD);
        for (int i = 0; i < EVENTS; i++) {
          out.write(EVENT);
        }
        out.write(END);
      }
    } catch (IOException _) {
      // The client has gone.
    }
  }

  private static byte[] chunk(String data) {
    String event = "data: " + data + "\n\n";
    return (Integer.toHexString(event.length()) + "\r\n" + event + "\r\n").getBytes(UTF_8);
  }

  private static byte[] concatenated(byte[]... parts) {
    int length = 0;
    for (byte[] part : parts) {
      length += part.length;
    }
    byte[] whole = new byte[length];
    int at = 0;
    for (byte[] part : parts) {
      System.arraycopy(part, 0, whole, at, part.length);
      at += part.length;
    }
    return whole;
  }
}
