package dev.flotilla.hub.ui;

import dev.flotilla.hub.reports.Reports;
import dev.flotilla.hub.store.StoreFailed;
import dev.flotilla.server.http.ClientConnection;
import dev.flotilla.server.http.Paths;
import io.helidon.http.Header;
import io.helidon.http.HeaderValues;
import io.helidon.http.Status;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.util.List;
import java.util.Optional;

/**
 * {@code /reports/N}: the pages of stored reports. They are foreign: whoever may store a report
 * writes their HTML and their scripts.
 *
 * <p><b>What they are held to.</b> {@code sandbox} without {@code allow-same-origin} gives a page
 * an origin of its own that equals no other: it reaches neither the dashboard's document nor the
 * key in its {@code sessionStorage}, and what it asks of the hub counts as another site's. The rest
 * of the policy lets it load and send nothing: what it shows is in it. It stands in no frame.
 *
 * <p>{@code Cross-Origin-Opener-Policy} is not among the headers: browsers refuse to show a page
 * that has both it and a sandbox. The dashboard has it, and its links say {@code noopener}.
 *
 * <p><b>Keys.</b> Where they are demanded, a page is served to whoever has its ticket ({@link
 * Reports}) or sends a key.
 */
public final class ReportPages implements HttpService {
  private static final List<Header> SECURITY =
      List.of(
          HeaderValues.createCached(
              "Content-Security-Policy",
              "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline';"
                  + " style-src 'unsafe-inline'; img-src data:; font-src data:;"
                  + " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
          HeaderValues.createCached("X-Content-Type-Options", "nosniff"),
          HeaderValues.createCached("X-Frame-Options", "DENY"),
          HeaderValues.createCached("Referrer-Policy", "no-referrer"),
          HeaderValues.createCached("Cross-Origin-Resource-Policy", "same-origin"),
          HeaderValues.createCached("Cache-Control", "no-store"));

  /** The number of no report. */
  private static final long NONE = -1;

  private final Reports reports;
  private final DashboardAccess access;

  public ReportPages(Reports reports, DashboardAccess access) {
    this.reports = reports;
    this.access = access;
  }

  @Override
  public void routing(HttpRules rules) {
    Paths.get(rules, "/reports/{id}", this::page);
  }

  private void page(ServerRequest request, ServerResponse response) {
    SECURITY.forEach(response::header);
    String id = request.path().pathParameters().get("id");
    long number = id.matches("[0-9]{1,18}") ? Long.parseLong(id) : NONE;
    if (!mayRead(request, number)) {
      Plain.send(
          response,
          Status.UNAUTHORIZED_401,
          "This hub demands a key, and this link is not of its present start: open the report from"
              + " the dashboard.");
      return;
    }
    try {
      Optional<byte[]> html = reports.html(number);
      if (html.isEmpty()) {
        Plain.send(
            response,
            Status.NOT_FOUND_404,
            "There is no such report: it was deleted, or newer ones took its place.");
        return;
      }
      response.header("Content-Type", "text/html; charset=utf-8");
      ClientConnection.current().send(response, html.get());
    } catch (StoreFailed e) {
      Plain.send(response, Status.SERVICE_UNAVAILABLE_503, e.sentence());
    }
  }

  private boolean mayRead(ServerRequest request, long number) {
    return !access.keysDemanded()
        || reports.admits(number, request.query().first("ticket").asOptional().orElse(""))
        || Dashboard.bearer(request).map(access::admits).orElse(false);
  }
}
