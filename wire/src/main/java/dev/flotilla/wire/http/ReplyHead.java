package dev.flotilla.wire.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The head of a reply, read strictly: what RFC 9112 calls an error is one, and so is what it leaves
 * to the reader's taste where two readers could differ.
 *
 * @param minorVersion 0 or 1, for HTTP/1.0 and HTTP/1.1
 * @param contentLength the body's length, -1 where no {@code Content-Length} says it
 * @param chunked whether the body comes in chunks
 * @param keepAlive whether the engine keeps the connection after this reply
 */
record ReplyHead(
    int minorVersion,
    int status,
    HttpHeaders headers,
    long contentLength,
    boolean chunked,
    boolean keepAlive) {

  /** Digits of a length that surely fits a long. */
  private static final int LENGTH_DIGITS_MAX = 18;

  static ReplyHead read(ReplyInput input, Http1Limits limits) throws ReplyMalformed, ReplyCutShort {
    int start = input.line(limits.lineBytesMax(), "the status line");
    int end = input.from - 2;
    int minorVersion = minorVersion(input.bytes, start, end);
    int status = status(input.bytes, start, end);
    int headBytes = end - start + 2;
    List<String> pairs = new ArrayList<>(16);
    long contentLength = -1;
    boolean chunked = false;
    boolean close = minorVersion == 0;
    while (true) {
      int from = input.line(limits.lineBytesMax(), "a header");
      int to = input.from - 2;
      headBytes += to - from + 2;
      if (headBytes > limits.headBytesMax()) {
        throw new ReplyMalformed(
            "the reply's head is longer than " + limits.headBytesMax() + " bytes");
      }
      if (from == to) {
        break;
      }
      if (pairs.size() == 2 * limits.headersMax()) {
        throw new ReplyMalformed("the reply has more than " + limits.headersMax() + " headers");
      }
      String name = headerName(input.bytes, from, to, "a header");
      String value = headerValue(input.bytes, from + name.length() + 1, to, name);
      pairs.add(name);
      pairs.add(value);
      switch (name.length()) {
        case 10 -> {
          if (name.equalsIgnoreCase("connection")) {
            close = closes(value, close);
          }
        }
        case 14 -> {
          if (name.equalsIgnoreCase("content-length")) {
            if (contentLength >= 0) {
              throw new ReplyMalformed("the reply says its Content-Length twice");
            }
            contentLength = length(value);
          }
        }
        case 17 -> {
          if (name.equalsIgnoreCase("transfer-encoding")) {
            if (chunked || !value.equalsIgnoreCase("chunked")) {
              throw new ReplyMalformed("the reply has a Transfer-Encoding other than chunked");
            }
            chunked = true;
          }
        }
        default -> {}
      }
    }
    if (chunked && contentLength >= 0) {
      throw new ReplyMalformed("the reply has both a Content-Length and a Transfer-Encoding");
    }
    if (chunked && minorVersion == 0) {
      throw new ReplyMalformed("the reply is HTTP/1.0 and has a Transfer-Encoding");
    }
    return new ReplyHead(
        minorVersion, status, HttpHeaders.parsed(pairs), contentLength, chunked, !close);
  }

  private static int minorVersion(byte[] line, int start, int end) throws ReplyMalformed {
    boolean known =
        end - start >= 12
            && line[start] == 'H'
            && line[start + 1] == 'T'
            && line[start + 2] == 'T'
            && line[start + 3] == 'P'
            && line[start + 4] == '/'
            && line[start + 5] == '1'
            && line[start + 6] == '.'
            && (line[start + 7] == '0' || line[start + 7] == '1')
            && line[start + 8] == ' ';
    if (!known) {
      throw new ReplyMalformed("the reply does not begin with HTTP/1.1 or HTTP/1.0 and a status");
    }
    return line[start + 7] - '0';
  }

  private static int status(byte[] line, int start, int end) throws ReplyMalformed {
    int status = 0;
    for (int i = start + 9; i < start + 12; i++) {
      if (line[i] < '0' || line[i] > '9') {
        throw new ReplyMalformed("the reply's status is not a number of three digits");
      }
      status = 10 * status + line[i] - '0';
    }
    if (status < 100 || status > 599 || (end > start + 12 && line[start + 12] != ' ')) {
      throw new ReplyMalformed("the reply's status is not one from 100 to 599");
    }
    return status;
  }

  /** The name before the colon; the line is neither a fold nor without a colon. */
  static String headerName(byte[] line, int from, int to, String what) throws ReplyMalformed {
    int colon = from;
    while (colon < to && HttpHeaders.isToken(line[colon])) {
      colon++;
    }
    if (colon == from || colon == to || line[colon] != ':') {
      throw new ReplyMalformed(
          line[from] == ' ' || line[from] == '\t'
              ? what + " is folded over two lines"
              : what + " is not a name, a colon and a value");
    }
    return new String(line, from, colon - from, ISO_8859_1);
  }

  static String headerValue(byte[] line, int from, int to, String name) throws ReplyMalformed {
    int start = from;
    int end = to;
    while (start < end && (line[start] == ' ' || line[start] == '\t')) {
      start++;
    }
    while (end > start && (line[end - 1] == ' ' || line[end - 1] == '\t')) {
      end--;
    }
    for (int i = start; i < end; i++) {
      if ((line[i] >= 0 && line[i] < ' ' && line[i] != '\t') || line[i] == 0x7f) {
        throw new ReplyMalformed("the value of header " + name + " holds a control character");
      }
    }
    return new String(line, start, end - start, ISO_8859_1);
  }

  private static long length(String value) throws ReplyMalformed {
    boolean digits = !value.isEmpty() && value.length() <= LENGTH_DIGITS_MAX;
    for (int i = 0; digits && i < value.length(); i++) {
      digits = value.charAt(i) >= '0' && value.charAt(i) <= '9';
    }
    if (!digits) {
      throw new ReplyMalformed("the reply's Content-Length is not a number of bytes");
    }
    return Long.parseLong(value);
  }

  /** {@code close} wins over {@code keep-alive}, wherever the two stand. */
  private static boolean closes(String connection, boolean before) {
    boolean close = before;
    for (String option : connection.split(",", -1)) {
      switch (option.strip().toLowerCase(Locale.ROOT)) {
        case "close" -> {
          return true;
        }
        case "keep-alive" -> close = false;
        default -> {}
      }
    }
    return close;
  }
}
