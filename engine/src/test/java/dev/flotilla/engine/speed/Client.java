package dev.flotilla.engine.speed;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Asks one question of a server's {@code /v1/completions}, streamed, and times what comes. */
record Client(int port) {
  /** The first token's time since the question, the last one's since the first, and how many. */
  record Answer(double firstSeconds, double restSeconds, int tokens) {
    /** Tokens a second behind the first. */
    double rate() {
      return (tokens - 1) / restSeconds;
    }
  }

  Answer answer(int[] prompt, int out) throws IOException {
    String body =
        "{\"model\":\"small\",\"prompt\":%s,\"max_tokens\":%d,\"temperature\":0,\"ignore_eos\":true,\"stream\":true}"
            .formatted(Arrays.toString(prompt).replace(" ", ""), out);
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setTcpNoDelay(true);
      OutputStream to = socket.getOutputStream();
      long start = System.nanoTime();
      to.write(
          ("POST /v1/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
                  + "Content-Type: application/json\r\nContent-Length: "
                  + body.length()
                  + "\r\n\r\n"
                  + body)
              .getBytes(StandardCharsets.US_ASCII));
      BufferedReader from =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
      String status = from.readLine();
      if (status == null || !status.contains(" 200 ")) {
        throw new IOException(status + from.lines().toList());
      }
      long first = 0;
      long last = 0;
      for (String line = from.readLine(); line != null; line = from.readLine()) {
        if (line.startsWith("data: {")) {
          last = System.nanoTime();
          first = first == 0 ? last : first;
        } else if (line.startsWith("data: [DONE]")) {
          break;
        }
      }
      if (first == 0) {
        throw new IOException("an answer without an event");
      }
      return new Answer((first - start) / 1e9, (last - first) / 1e9, out);
    }
  }
}
