package dev.flotilla.wire.http;

/**
 * What the HTTP client takes from an engine at most. Whatever goes beyond one of these is a {@link
 * ReplyMalformed} that names the limit.
 *
 * @param lineBytesMax one line of a head: the status line, or one header (default 8 KiB)
 * @param headersMax headers in one head (default 100)
 * @param headBytesMax a whole head, status line and headers together (default 64 KiB)
 * @param chunkLineBytesMax the line before a chunk, its extensions included (default 256 bytes)
 * @param trailerBytesMax the headers after the last chunk, together (default 8 KiB)
 * @param interimRepliesMax 1xx replies before the real one (default 8)
 * @param bufferBytes what the client reads ahead of its caller; one buffer per connection (default
 *     16 KiB)
 */
public record Http1Limits(
    int lineBytesMax,
    int headersMax,
    int headBytesMax,
    int chunkLineBytesMax,
    int trailerBytesMax,
    int interimRepliesMax,
    int bufferBytes) {

  public static final Http1Limits DEFAULTS =
      new Http1Limits(8 << 10, 100, 64 << 10, 256, 8 << 10, 8, 16 << 10);

  public Http1Limits {
    if (lineBytesMax < 16
        || headersMax < 1
        || headBytesMax < lineBytesMax
        || chunkLineBytesMax < 18
        || trailerBytesMax < 2
        || interimRepliesMax < 0
        || bufferBytes < 64) {
      throw new IllegalArgumentException("a limit is too small to read any reply");
    }
  }
}
