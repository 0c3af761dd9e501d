package dev.flotilla.testkit.scripted;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * What a {@link ScriptedEngine} does with one request: whatever can be written on a socket. The
 * factories cover the ways in which engines are known to fail; {@link #answer} begins a good answer
 * that can be spoilt anywhere.
 */
@FunctionalInterface
public interface Script {
  /** Plays the script; an IOException ends the connection. */
  void play(Exchange exchange) throws IOException;

  /** A good answer of these pieces of text, streamed or whole as the request asks. */
  static Answer answer(String... pieces) {
    return new Answer(List.of(pieces));
  }

  /** A good answer of so many pieces. */
  static Answer chunks(int count) {
    return new Answer(Collections.nCopies(count, "word "));
  }

  /** What a real llama-server said, byte for byte. */
  static Script recorded(RecordedReply reply) {
    return exchange -> {
      exchange.lastBytes();
      exchange.raw(reply.bytes());
    };
  }

  /** Any status with any JSON. */
  static Script json(int status, String json) {
    return exchange -> exchange.json(status, json);
  }

  /** An error in llama-server's words. */
  static Script error(int status, String type, String message) {
    return json(
        status,
        "{\"error\":{\"code\":%d,\"message\":%s,\"type\":\"%s\"}}"
            .formatted(status, ReceivedRequest.JSON.writeValueAsString(message), type));
  }

  static Script notFound() {
    return error(404, "not_found_error", "File Not Found");
  }

  static Script modelNotFound(String model) {
    return json(
        404,
        ("{\"error\":{\"message\":\"The model `%s` does not exist.\","
                + "\"type\":\"NotFoundError\",\"param\":\"model\",\"code\":404}}")
            .formatted(model));
  }

  static Script serverError() {
    return error(500, "server_error", "something broke in the engine");
  }

  static Script loading() {
    return error(503, "unavailable_error", "Loading model");
  }

  /** A page for people, as a proxy in between gives. */
  static Script html(int status) {
    return exchange ->
        exchange.reply(
            status,
            "text/html",
            "<html><head><title>Bad</title></head><body>Bad</body></html>".getBytes(UTF_8));
  }

  /** Bytes that are no HTTP. */
  static Script garbage() {
    return raw("\u0000\u0001 this is no HTTP \r\n\r\n");
  }

  /** These bytes and then the end of the connection. */
  static Script raw(String bytes) {
    return exchange -> {
      exchange.raw(bytes);
      exchange.close();
    };
  }

  /** Reads the request and tears the connection down. */
  static Script dropBeforeFirstByte() {
    return Exchange::reset;
  }

  /** Reads the request and closes the connection in good order, without a word. */
  static Script closeBeforeFirstByte() {
    return Exchange::close;
  }

  /** Says nothing until the gate opens, then does the other thing. */
  static Script stallThen(Gate gate, Script then) {
    return exchange -> {
      exchange.await(gate);
      then.play(exchange);
    };
  }

  /** Promises more bytes than come before the end of the connection. */
  static Script contentLengthTooLong() {
    return raw(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{}");
  }

  /** Sends more bytes than it promised. */
  static Script contentLengthTooShort() {
    return exchange ->
        exchange.raw(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n"
                + "{}, and then some");
  }

  /** Headers without end, for as long as the client reads. */
  static Script neverEndingHead() {
    return exchange -> {
      exchange.raw("HTTP/1.1 200 OK\r\n");
      for (int i = 0; ; i++) {
        exchange.raw("x-header-" + i + ": and another one\r\n");
      }
    };
  }

  /** One event whose single line has so many bytes; never held in memory whole. */
  static Script hugeLine(long bytes) {
    return exchange -> {
      exchange.startStream();
      exchange.body("data: ".getBytes(UTF_8));
      byte[] block = new byte[64 << 10];
      Arrays.fill(block, (byte) 'x');
      for (long left = bytes; left > 0; left -= block.length) {
        exchange.body(left >= block.length ? block : Arrays.copyOf(block, (int) left));
      }
      exchange.body("\n\n".getBytes(UTF_8));
      exchange.endStream();
    };
  }

  /** llama-server's refusal of a prompt that is too long. */
  static Script contextOverflow(int promptTokens, int contextTokens) {
    return json(
        400,
        ("{\"error\":{\"code\":400,\"message\":\"request (%d tokens) exceeds the available context size"
                + " (%d tokens), try increasing it\",\"type\":\"exceed_context_size_error\","
                + "\"n_prompt_tokens\":%d,\"n_ctx\":%d}}")
            .formatted(promptTokens, contextTokens, promptTokens, contextTokens));
  }

  /** vLLM's refusal of a prompt that is too long. */
  static Script contextOverflowAsVllm(int promptTokens, int contextTokens) {
    return json(
        400,
        ("{\"error\":{\"message\":\"This model's maximum context length is %d tokens. However, your"
                + " prompt contains at least %d input tokens, which exceeds this limit even without"
                + " any output tokens. Please reduce the length of the input prompt."
                + " (parameter=input_tokens, value=%d)\",\"type\":\"BadRequestError\","
                + "\"param\":\"input_tokens\",\"code\":400}}")
            .formatted(contextTokens, promptTokens, promptTokens));
  }
}
