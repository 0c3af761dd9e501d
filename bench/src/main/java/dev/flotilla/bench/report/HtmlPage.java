package dev.flotilla.bench.report;

import dev.flotilla.bench.measure.Finding;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A page in one file that needs nothing else: styles, scripts and data are in it, and it may be
 * mailed, printed and read without a network.
 *
 * <p>Whatever came from elsewhere, such as a model's name, is text: it is escaped here and in the
 * data, the scripts put it on the page as text, and the page's own policy lets no script run but
 * the two whose digests it names.
 */
public final class HtmlPage {
  private static final String WEBJAR = "/META-INF/resources/webjars/uplot/1.6.30/";

  private final StringBuilder html = new StringBuilder();
  private final List<Plot> plots = new ArrayList<>();

  private HtmlPage() {}

  /** The file's content. */
  public static String of(Page page) {
    HtmlPage html = new HtmlPage();
    html.page(page);
    return html.html.toString();
  }

  private void page(Page page) {
    // The licence asks to stand with every copy.
    String library =
        "/*\n"
            + resource(WEBJAR + "LICENSE")
            + "*/\n"
            + resource(WEBJAR + "dist/uPlot.iife.min.js");
    String drawing = resource("page.js");
    html.append("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    html.append("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    html.append("<meta http-equiv=\"Content-Security-Policy\" content=\"")
        .append("default-src 'none'; base-uri 'none'; form-action 'none'; ")
        .append("style-src 'unsafe-inline'; script-src '")
        .append(digest(library))
        .append("' '")
        .append(digest(drawing))
        .append("'\">\n");
    element("title", "", page.title());
    html.append("<style>\n")
        .append(resource(WEBJAR + "dist/uPlot.min.css"))
        .append(resource("page.css"))
        .append("</style>\n</head>\n<body>\n<header>\n");
    element("h1", "", page.title());
    element("p", "", page.subtitle());
    html.append("</header>\n<main>\n");
    page.parts().forEach(this::part);
    html.append("</main>\n<footer>Made by flotilla. Plots are drawn by ");
    html.append("uPlot (MIT licence, in this file's source).</footer>\n");
    html.append("<script type=\"application/json\" id=\"plots\">").append(data());
    html.append("</script>\n<script>").append(library).append("</script>\n<script>");
    html.append(drawing).append("</script>\n</body>\n</html>\n");
  }

  private void part(Page.Part part) {
    switch (part) {
      case Page.Part.Heading heading -> element("h2", "", heading.text());
      case Page.Part.Words words -> element("p", "", words.text());
      case Page.Part.Findings findings -> findings(findings.findings());
      case Page.Part.Table table -> table(table.table(), "Figures");
      case Page.Part.Drawing drawing -> drawing(drawing);
    }
  }

  private void findings(List<Finding> findings) {
    if (findings.isEmpty()) {
      return;
    }
    html.append("<ul class=\"findings\">\n");
    for (Finding finding : findings) {
      element(
          "li",
          finding.misleads() ? " class=\"misleads\"" : "",
          (finding.misleads() ? "These numbers mislead. " : "") + finding.words());
    }
    html.append("</ul>\n");
  }

  private void drawing(Page.Part.Drawing drawing) {
    String title = drawing.plot().title();
    html.append("<figure>\n");
    element("figcaption", "", title);
    html.append("<div class=\"plot\" tabindex=\"0\" role=\"img\" data-plot=\"")
        .append(plots.size())
        .append("\" aria-label=\"")
        .append(escaped(title + "; the table below has the same figures"))
        .append("\"></div>\n</figure>\n");
    plots.add(drawing.plot());
    table(drawing.data(), title);
  }

  private void table(TextTable table, String name) {
    html.append("<div class=\"table\" tabindex=\"0\" role=\"region\" aria-label=\"")
        .append(escaped(name))
        .append("\">\n<table>\n<thead><tr>");
    table.header().forEach(cell -> cell("th scope=\"col\"", "th", cell));
    html.append("</tr></thead>\n<tbody>\n");
    for (List<String> row : table.rows()) {
      html.append("<tr>");
      cell("th scope=\"row\"", "th", row.getFirst());
      row.stream().skip(1).forEach(cell -> cell("td", "td", cell));
      html.append("</tr>\n");
    }
    html.append("</tbody>\n</table>\n</div>\n");
  }

  private void cell(String opening, String name, String text) {
    html.append('<').append(opening).append('>').append(escaped(text));
    html.append("</").append(name).append('>');
  }

  private void element(String name, String attributes, String text) {
    html.append('<').append(name).append(attributes).append('>').append(escaped(text));
    html.append("</").append(name).append(">\n");
  }

  /** The plots as JSON that can't end its element. */
  private String data() {
    ArrayNode all = ResultJson.MAPPER.createArrayNode();
    plots.forEach(plot -> all.add(json(plot)));
    return all.toString().replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026");
  }

  private static ObjectNode json(Plot plot) {
    ObjectNode json = ResultJson.MAPPER.createObjectNode();
    axis(json.putObject("x"), plot.x());
    axis(json.putObject("y"), plot.y());
    ArrayNode series = json.putArray("series");
    for (Plot.Series one : plot.series()) {
      ObjectNode entry = series.addObject();
      entry.put("name", TextTable.printable(one.name()));
      entry.put("path", one.style() == Plot.Style.PATH);
      ArrayNode x = entry.putArray("x");
      ArrayNode y = entry.putArray("y");
      ArrayNode labels = entry.putArray("labels");
      for (Plot.Point point : one.points()) {
        x.add(point.x());
        y.add(point.y());
        labels.add(TextTable.printable(point.label()));
      }
    }
    ArrayNode marks = json.putArray("marks");
    for (Plot.Mark mark : plot.marks()) {
      marks
          .addObject()
          .put("x", mark.x())
          .put("y", mark.y())
          .put("words", TextTable.printable(mark.words()));
    }
    return json;
  }

  private static void axis(ObjectNode json, Plot.Axis axis) {
    json.put("label", axis.label()).put("log", axis.logarithmic());
  }

  /** Text as it may stand between tags and in quoted attributes. */
  static String escaped(String text) {
    return TextTable.printable(text)
        .replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;")
        .replace("'", "&#39;");
  }

  private static String digest(String script) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(script.getBytes(StandardCharsets.UTF_8));
      return "sha256-" + Base64.getEncoder().encodeToString(digest);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  /** A file of this program, with the ends of lines that a browser sees. */
  private static String resource(String name) {
    try (InputStream in = HtmlPage.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("this program lacks its file " + name);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8).replace("\r\n", "\n");
    } catch (IOException e) {
      throw new UncheckedIOException("this program can't read its file " + name, e);
    }
  }
}
