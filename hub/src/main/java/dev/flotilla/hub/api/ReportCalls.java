package dev.flotilla.hub.api;

import dev.flotilla.hub.reports.ReportDraft;
import dev.flotilla.hub.reports.ReportLimits;
import dev.flotilla.hub.reports.Reports;
import dev.flotilla.hub.store.StoreFailed;
import dev.flotilla.hub.store.StoredReport;
import dev.flotilla.hub.store.StoredReport.Figure;
import dev.flotilla.wire.openai.ApiError;
import dev.flotilla.wire.text.Names;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * {@code /api/reports}: reports of measurements are taken in, listed, shown and deleted. A report
 * in the making is some times its size in memory, so only so many are taken in at once.
 */
final class ReportCalls {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private final Reports reports;
  private final ReportLimits limits;
  private final Semaphore room;

  ReportCalls(Reports reports, ReportLimits limits) {
    this.reports = reports;
    this.limits = limits;
    this.room = new Semaphore(limits.atOnce());
  }

  JsonNode list() {
    ArrayNode list = MAPPER.createArrayNode();
    reports.heads().forEach(head -> list.add(shown(head)));
    return list;
  }

  /** The head of one report with its whole summary. */
  JsonNode show(ApiCall call) throws ApiRefusal, StoreFailed {
    StoredReport head = named(call);
    ObjectNode node = shown(head);
    // Deleted since: then there is nothing more to show than was known of it.
    reports.summary(head.id()).ifPresent(summary -> node.set("summary", MAPPER.readTree(summary)));
    return node;
  }

  JsonNode add(ApiCall call) throws ApiRefusal, StoreFailed {
    if (!room.tryAcquire()) {
      throw new ApiRefusal(
          ApiError.unavailable(
              "too_many_reports",
              "the hub takes in " + limits.atOnce() + " reports at once; send this one again",
              Duration.ofSeconds(2)));
    }
    try {
      ReportDraft draft = draft(call.json(limits.bodyBytes()));
      Optional<ReportDraft.Problem> problem = draft.problem(limits);
      if (problem.isPresent()) {
        throw refusal(problem.get());
      }
      Reports.Added added = reports.add(draft, call.by());
      return shown(added.report()).put("message", message(added));
    } finally {
      room.release();
    }
  }

  JsonNode remove(ApiCall call) throws ApiRefusal, StoreFailed {
    StoredReport head = named(call);
    reports.remove(head.id(), call.by());
    return MAPPER.createObjectNode().put("message", "the report " + head.id() + " is deleted");
  }

  private StoredReport named(ApiCall call) throws ApiRefusal {
    String id = call.path("id");
    return ApiCall.id(id)
        .flatMap(reports::find)
        .orElseThrow(() ->
            new ApiRefusal(
                ApiError.notFound(
                    "unknown_name", "there is no report numbered " + Names.shown(id))));
  }

  private ObjectNode shown(StoredReport head) {
    return MAPPER.<ObjectNode>valueToTree(head).put("path", reports.path(head.id()));
  }

  private static String message(Reports.Added added) {
    String message = "the report " + added.report().id() + " is stored";
    return added.dropped() == 0
        ? message
        : message + "; " + added.dropped() + " of the oldest went, as there is no room for more";
  }

  private static ReportDraft draft(JsonNode body) throws ApiRefusal {
    JsonNode summary = body.path("summary");
    if (!summary.isObject()) {
      throw ApiCall.refusal("missing_field", "the body needs the object \"summary\"", "summary");
    }
    return new ReportDraft(
        ApiCall.text(body, "kind"),
        ApiCall.text(body, "title"),
        ApiCall.text(body, "model"),
        figures(body.path("figures")),
        MAPPER.writeValueAsString(summary),
        ApiCall.text(body, "html"));
  }

  private static List<Figure> figures(JsonNode list) throws ApiRefusal {
    if (!list.isArray() && !list.isMissingNode() && !list.isNull()) {
      throw noFigures();
    }
    List<Figure> figures = new ArrayList<>();
    for (JsonNode each : list) {
      if (!each.path("name").isString() || !each.path("value").isString()) {
        throw noFigures();
      }
      figures.add(new Figure(each.path("name").asString(), each.path("value").asString()));
    }
    return figures;
  }

  private static ApiRefusal noFigures() {
    return ApiCall.refusal(
        "invalid_parameter",
        "\"figures\" is a list of {\"name\":\"out tok/s\",\"value\":\"812.4\"}",
        "figures");
  }

  private static ApiRefusal refusal(ReportDraft.Problem problem) {
    return new ApiRefusal(
        new ApiError(
            problem.tooLarge() ? 413 : 400,
            "invalid_request_error",
            problem.tooLarge() ? "report_too_large" : "invalid_report",
            problem.why(),
            problem.field(),
            null));
  }
}
