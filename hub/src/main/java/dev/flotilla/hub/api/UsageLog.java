package dev.flotilla.hub.api;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.flotilla.hub.store.Store;
import dev.flotilla.hub.store.StoreFailed;
import dev.flotilla.hub.store.UsageTable;
import dev.flotilla.hub.store.UsageTable.Logged;
import dev.flotilla.wire.openai.ApiError;
import dev.flotilla.wire.openai.ApiErrors;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.webserver.http.ServerResponse;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.format.DateTimeParseException;
import java.util.List;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * {@code GET /api/usage/log}: requests of the usage log, one JSON object a line, in the order in
 * which they ended. {@code since} (an ISO 8601 instant; the last day unless said), {@code model}
 * and {@code key} choose, {@code limit} bounds, and {@code after} goes on behind the {@code id} of
 * a line that was read before.
 *
 * <p>Pages are read one after the other while the client takes them, so that a long log is never in
 * memory whole. What fails after the first line is said in a last line, {@code {"error": …}}.
 */
final class UsageLog {
  private static final Logger LOG = System.getLogger(UsageLog.class.getName());
  private static final JsonMapper MAPPER = JsonMapper.builder().build();
  private static final int LINES = 10_000;
  private static final int LINES_MAX = 1_000_000;
  private static final int PAGE = 1_000;
  private static final Duration BACK = Duration.ofDays(1);

  private final Store store;
  private final InstantSource clock;

  UsageLog(Store store, InstantSource clock) {
    this.store = store;
    this.clock = clock;
  }

  void send(ApiCall call, ServerResponse response) throws ApiRefusal, StoreFailed {
    UsageTable.Filter filter =
        new UsageTable.Filter(since(call), call.query("model"), call.query("key"));
    int limit = (int) call.number("limit", LINES, 1, LINES_MAX);
    long after = call.number("after", 0, 0, Long.MAX_VALUE);
    UsageTable table = store.usageLog();
    // The first page before the reply's head: what fails here has a status of its own.
    List<Logged> page = table.after(after, Math.min(PAGE, limit), filter);
    response.header(HeaderValues.createCached(HeaderNames.CACHE_CONTROL, "no-store"));
    response.header(HeaderNames.CONTENT_TYPE, "application/jsonl; charset=utf-8");
    try (OutputStream out = response.outputStream()) {
      int left = limit;
      while (!page.isEmpty()) {
        out.write(lines(page));
        left -= page.size();
        if (left == 0) {
          return;
        }
        page = next(table, page.getLast().id(), Math.min(PAGE, left), filter, out);
      }
    } catch (IOException | UncheckedIOException e) {
      LOG.log(Level.DEBUG, "the client of the usage log went away", e);
    }
  }

  private static List<Logged> next(
      UsageTable table, long after, int limit, UsageTable.Filter filter, OutputStream out)
      throws IOException {
    try {
      return table.after(after, limit, filter);
    } catch (StoreFailed e) {
      out.write(
          ApiErrors.body(
              ApiError.unavailable("store_unavailable", e.sentence(), Duration.ofSeconds(10))));
      out.write('\n');
      return List.of();
    }
  }

  private static byte[] lines(List<Logged> page) {
    StringBuilder lines = new StringBuilder(400 * page.size());
    for (Logged logged : page) {
      ObjectNode line = MAPPER.createObjectNode().put("id", logged.id());
      line.setAll(MAPPER.<ObjectNode>valueToTree(logged.usage()));
      lines.append(line).append('\n');
    }
    return lines.toString().getBytes(UTF_8);
  }

  private Instant since(ApiCall call) throws ApiRefusal {
    if (call.query("since").isEmpty()) {
      return clock.instant().minus(BACK);
    }
    try {
      Instant since = Instant.parse(call.query("since").get());
      if (Math.abs(since.getEpochSecond()) < Integer.MAX_VALUE * 4L) {
        return since;
      }
    } catch (DateTimeParseException e) {
      // Said below, as for a time that no log is from.
    }
    throw ApiCall.refusal(
        "invalid_parameter", "since is an instant such as 2026-03-01T08:00:00Z", "since");
  }
}
