package dev.flotilla.testkit.scripted;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.flotilla.wire.http.HttpHeaders;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads requests for the scripted engine. */
final class RequestInput {
  private static final int LINE_BYTES_MAX = 64 << 10;
  private static final int BODY_BYTES_MAX = 256 << 20;

  private RequestInput() {}

  /** The next request; null where the connection ended before one. */
  static @Nullable ReceivedRequest read(InputStream in, OutputStream out) throws IOException {
    String first = line(in);
    if (first == null) {
      return null;
    }
    String[] words = first.split(" ", -1);
    if (words.length != 3) {
      throw new IOException("not a request: " + first);
    }
    List<String> pairs = new ArrayList<>();
    for (String line; (line = line(in)) != null && !line.isEmpty(); ) {
      int colon = line.indexOf(':');
      if (colon < 1) {
        throw new IOException("not a header: " + line);
      }
      pairs.add(line.substring(0, colon));
      pairs.add(line.substring(colon + 1).strip());
    }
    HttpHeaders headers;
    try {
      headers = HttpHeaders.of(pairs.toArray(String[]::new));
    } catch (IllegalArgumentException e) {
      throw new IOException("not a header", e);
    }
    if (headers.first("expect").isPresent()) {
      out.write("HTTP/1.1 100 Continue\r\n\r\n".getBytes(ISO_8859_1));
    }
    byte[] body =
        headers.first("transfer-encoding").isPresent()
            ? chunks(in)
            : exactly(in, number(headers.first("content-length").orElse("0"), 10));
    return new ReceivedRequest(words[0], words[1], headers, body);
  }

  private static byte[] chunks(InputStream in) throws IOException {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    while (true) {
      String size = line(in);
      int length = number(size == null ? "" : size, 16);
      if (length == 0) {
        for (String line; (line = line(in)) != null && !line.isEmpty(); ) {}
        return body.toByteArray();
      }
      body.writeBytes(exactly(in, length));
      line(in);
      if (body.size() > BODY_BYTES_MAX) {
        throw new IOException("the body is beyond any size");
      }
    }
  }

  private static byte[] exactly(InputStream in, int length) throws IOException {
    byte[] body = in.readNBytes(length);
    if (body.length < length) {
      throw new IOException("the client went away in mid-request");
    }
    return body;
  }

  private static int number(String text, int radix) throws IOException {
    try {
      int number = Integer.parseInt(text.strip(), radix);
      if (number >= 0 && number <= BODY_BYTES_MAX) {
        return number;
      }
    } catch (NumberFormatException _) {
      // Said below.
    }
    throw new IOException("not a length: " + text);
  }

  private static @Nullable String line(InputStream in) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream(64);
    for (int c; (c = in.read()) != '\n'; ) {
      if (c < 0) {
        if (line.size() == 0) {
          return null;
        }
        throw new IOException("the client went away in mid-line");
      }
      if (line.size() > LINE_BYTES_MAX) {
        throw new IOException("a line is beyond any length");
      }
      if (c != '\r') {
        line.write(c);
      }
    }
    return line.toString(ISO_8859_1);
  }
}
