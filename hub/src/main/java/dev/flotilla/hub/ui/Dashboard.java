package dev.flotilla.hub.ui;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.flotilla.server.http.ClientConnection;
import dev.flotilla.server.http.Paths;
import gg.jte.ContentType;
import gg.jte.TemplateEngine;
import gg.jte.output.StringOutput;
import io.helidon.http.Header;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.Status;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The page at {@code /}: the whole fleet, server-rendered, then kept true by one stream of patches.
 *
 * <p>Addresses: {@code /} the page, {@code /ui/live} the stream, {@code /ui/assets/…} its files.
 * All are reads; the page changes nothing, and its playground asks {@code /v1/chat/completions} as
 * any other client does.
 *
 * <p><b>Keys.</b> Where a key is demanded, {@code /} holds nothing of the fleet: it asks for a key,
 * keeps it in the tab's {@code sessionStorage} and sends it as a bearer token with the stream
 * (which htmx reads by {@code fetch}, so it can carry a header) and with the playground's requests.
 * There is no cookie, so no other site can make a browser act with the key, and a restarted hub
 * needs no new sign-in.
 *
 * <p><b>What the browser is held to.</b> Scripts and styles from this origin only, none inline, no
 * frames, no forms sent anywhere. All text is escaped by the templates.
 */
public final class Dashboard implements HttpService, AutoCloseable {
  private static final String BEARER = "Bearer ";
  private static final Map<String, String> PARTS =
      Map.of(
          "summary", "summary.jte",
          "banner", "banner.jte",
          "workers", "workers.jte",
          "models", "models.jte",
          "nodes", "nodes.jte",
          "progress", "progress.jte",
          "proofs", "proofs.jte",
          "reports", "reports.jte",
          "events", "events.jte");

  private static final List<Header> SECURITY =
      List.of(
          HeaderValues.createCached(
              "Content-Security-Policy",
              "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';"
                  + " connect-src 'self'; base-uri 'none'; form-action 'none';"
                  + " frame-ancestors 'none'"),
          HeaderValues.createCached("X-Content-Type-Options", "nosniff"),
          HeaderValues.createCached("X-Frame-Options", "DENY"),
          HeaderValues.createCached("Referrer-Policy", "no-referrer"),
          HeaderValues.createCached("Cross-Origin-Opener-Policy", "same-origin"),
          HeaderValues.createCached("Cross-Origin-Resource-Policy", "same-origin"));

  private static final Header NO_STORE = HeaderValues.createCached("Cache-Control", "no-store");
  private static final Header FOR_EVER =
      HeaderValues.createCached("Cache-Control", "public, max-age=31536000, immutable");
  private static final Header UNBUFFERED = HeaderValues.createCached("X-Accel-Buffering", "no");
  private static final Header RETRY = HeaderValues.createCached("Retry-After", "10");

  private final DashboardData data;
  private final DashboardAccess access;
  private final Supplier<String> address;
  private final Assets assets = new Assets();
  private final TemplateEngine templates =
      TemplateEngine.createPrecompiled(
          null,
          ContentType.Html,
          Dashboard.class.getClassLoader(),
          Dashboard.class.getPackageName());
  private final LiveFeed feed;

  /**
   * @param address how this hub is called from where it runs, up to the port: {@code
   *     http://127.0.0.1:8484}; asked for with each page, because a port may be known only then
   */
  public Dashboard(DashboardData data, DashboardAccess access, Supplier<String> address) {
    this(data, access, address, LiveFeed.Limits.DEFAULT);
  }

  Dashboard(
      DashboardData data,
      DashboardAccess access,
      Supplier<String> address,
      LiveFeed.Limits limits) {
    this.data = data;
    this.access = access;
    this.address = address;
    this.feed = new LiveFeed(this::renderParts, limits);
    data.onChange(feed::changed);
  }

  private CurlLine curl() {
    return new CurlLine(address.get(), access.keysDemanded());
  }

  @Override
  public void routing(HttpRules rules) {
    Paths.get(rules, "/", this::page);
    Paths.get(rules, "/ui/assets/{name}", this::asset);
    rules.get("/ui/live", this::live);
  }

  /** Ends every open stream, so that the server can stop; pages come back by themselves. */
  @Override
  public void close() {
    feed.close();
  }

  /** Pages that are open now. */
  int openPages() {
    return feed.subscribers();
  }

  private void page(ServerRequest request, ServerResponse response) {
    boolean locked = access.keysDemanded();
    DashboardView view = locked ? DashboardView.EMPTY : DashboardView.of(data, curl());
    StringOutput html = new StringOutput(32 * 1024);
    templates.render("page.jte", Map.of("view", view, "assets", assets, "locked", locked), html);
    secure(response).header(NO_STORE).header("Content-Type", "text/html; charset=utf-8");
    ClientConnection.current().send(response, html.toString().getBytes(UTF_8));
  }

  private void live(ServerRequest request, ServerResponse response) throws IOException {
    secure(response).header(NO_STORE);
    if (access.keysDemanded() && !bearer(request).map(access::admits).orElse(false)) {
      Plain.send(
          response,
          Status.UNAUTHORIZED_401,
          "This hub demands an admin key of its own: 'flotilla keys create --admin NAME' makes one.");
      return;
    }
    if (!feed.hasRoom()) {
      response.header(RETRY);
      Plain.send(
          response,
          Status.SERVICE_UNAVAILABLE_503,
          "As many dashboards are open as this hub serves at once; close one.");
      return;
    }
    response.header(UNBUFFERED).header("Content-Type", "text/event-stream; charset=utf-8");
    try (OutputStream out = response.outputStream()) {
      feed.serve(out);
    }
  }

  private void asset(ServerRequest request, ServerResponse response) {
    Optional<Assets.Asset> asset = assets.find(request.path().pathParameters().get("name"));
    secure(response);
    if (asset.isEmpty()) {
      Plain.send(response, Status.NOT_FOUND_404, "The dashboard has no such file.");
      return;
    }
    response.header(FOR_EVER).header("Content-Type", asset.get().type());
    ClientConnection.current().send(response, asset.get().content().getBytes(UTF_8));
  }

  private List<LiveFeed.Part> renderParts() {
    DashboardView view = DashboardView.of(data, curl());
    return PARTS.entrySet().stream()
        .map(part -> new LiveFeed.Part(part.getKey(), render(part.getValue(), view)))
        .toList();
  }

  private String render(String template, DashboardView view) {
    StringOutput html = new StringOutput();
    templates.render(template, view, html);
    return html.toString();
  }

  static Optional<String> bearer(ServerRequest request) {
    return request
        .headers()
        .first(HeaderNames.AUTHORIZATION)
        .filter(value -> value.regionMatches(true, 0, BEARER, 0, BEARER.length()))
        .map(value -> value.substring(BEARER.length()).strip());
  }

  private static ServerResponse secure(ServerResponse response) {
    SECURITY.forEach(response::header);
    return response;
  }
}
