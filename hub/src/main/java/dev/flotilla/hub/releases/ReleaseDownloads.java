package dev.flotilla.hub.releases;

import dev.flotilla.hub.lanes.NodeCredentials;
import dev.flotilla.wire.openai.ApiError;
import dev.flotilla.wire.openai.ApiErrors;
import dev.flotilla.wire.text.Names;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.Status;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/**
 * {@code GET /lanes/releases/VERSION}: a release's file, from a byte on, for whoever may dial
 * lanes.
 */
public final class ReleaseDownloads implements HttpService {
  private static final HeaderName NODE = HeaderNames.create("x-flotilla-node");
  private static final String BEARER = "bearer ";
  private static final int CREDENTIAL_CHARS_MAX = 512;
  private static final int BUFFER_BYTES = 64 << 10;

  private final Releases releases;
  private final NodeCredentials credentials;

  public ReleaseDownloads(Releases releases, NodeCredentials credentials) {
    this.releases = releases;
    this.credentials = credentials;
  }

  @Override
  public void routing(HttpRules rules) {
    rules.get("/lanes/releases/{version}", this::send);
  }

  private void send(ServerRequest request, ServerResponse response) {
    if (!mayDial(request)) {
      refuse(
          response,
          new ApiError(
              401,
              "authentication_error",
              "bad_credential",
              "a release is handed out to nodes of this hub",
              null,
              null));
      return;
    }
    String version = request.path().pathParameters().get("version");
    Optional<Path> file = releases.file(version);
    if (file.isEmpty()) {
      refuse(response, noRelease(version));
      return;
    }
    try (FileChannel channel = FileChannel.open(file.get(), StandardOpenOption.READ)) {
      send(channel, from(request), response);
    } catch (NoSuchFileException e) {
      refuse(response, noRelease(version));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void send(FileChannel channel, long from, ServerResponse response)
      throws IOException {
    long size = channel.size();
    if (from >= size) {
      response.header(HeaderNames.CONTENT_RANGE, "bytes */" + size);
      refuse(
          response,
          new ApiError(
              416,
              "invalid_request_error",
              "no_such_range",
              "the release has " + size + " bytes",
              null,
              null));
      return;
    }
    if (from > 0) {
      response.status(Status.PARTIAL_CONTENT_206);
      response.header(HeaderNames.CONTENT_RANGE, "bytes " + from + "-" + (size - 1) + "/" + size);
    }
    response.header(HeaderNames.CONTENT_TYPE, "application/zip");
    response.contentLength(size - from);
    channel.position(from);
    try (OutputStream out = response.outputStream()) {
      InputStream in = Channels.newInputStream(channel);
      byte[] buffer = new byte[BUFFER_BYTES];
      for (int count; (count = in.read(buffer)) >= 0; ) {
        out.write(buffer, 0, count);
      }
    }
  }

  private boolean mayDial(ServerRequest request) {
    String node = request.headers().first(NODE).orElse("");
    String bearer = request.headers().first(HeaderNames.AUTHORIZATION).orElse("");
    return Names.nodeProblem(node).isEmpty()
        && bearer.length() <= CREDENTIAL_CHARS_MAX
        && bearer.regionMatches(true, 0, BEARER, 0, BEARER.length())
        && credentials.verify(node, bearer.substring(BEARER.length()).strip()).isPresent();
  }

  /** {@code bytes=N-}; anything else asks for the whole. */
  private static long from(ServerRequest request) {
    String range = request.headers().first(HeaderNames.RANGE).orElse("");
    return range.matches("bytes=\\d{1,18}-")
        ? Long.parseLong(range.substring("bytes=".length(), range.length() - 1))
        : 0;
  }

  private static ApiError noRelease(String version) {
    return ApiError.notFound(
        "unknown_release", "this hub has no release " + Names.shown(version) + " any more");
  }

  private static void refuse(ServerResponse response, ApiError error) {
    response.status(Status.create(error.status()));
    response.header(HeaderNames.CONTENT_TYPE, "application/json");
    response.send(ApiErrors.body(error));
  }
}
