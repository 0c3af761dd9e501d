package dev.flotilla.hub.ui;

import dev.flotilla.hub.fleet.WorkerView;
import dev.flotilla.hub.routing.TargetLoad;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A row of the worker table.
 *
 * @param id the row's identity in the page, safe in an attribute and in a selector
 * @param state the word that is shown, which is also the CSS class
 * @param tone {@code good}, {@code busy}, {@code bad} or {@code idle}: the state's colour
 * @param command the exact command line, each argument quoted as a shell needs it; empty before the
 *     first start
 * @param facts what is known of the process, in words: pid, memory, launches
 */
record WorkerRow(
    String id,
    String name,
    String node,
    String model,
    String gpu,
    String host,
    String engine,
    String engineBuild,
    String context,
    String state,
    String tone,
    String reason,
    List<String> command,
    String startedAt,
    List<String> facts,
    int inFlight,
    int slots,
    String speed) {

  WorkerRow {
    command = List.copyOf(command);
    facts = List.copyOf(facts);
  }

  static WorkerRow of(WorkerView worker, @Nullable TargetLoad load) {
    return new WorkerRow(
        DashboardView.rowId("w", worker.name()),
        DashboardView.clip(worker.name()),
        DashboardView.clip(worker.node()),
        DashboardView.clip(worker.model()),
        worker.gpu().isEmpty() ? "CPU" : DashboardView.clip(worker.gpu()),
        DashboardView.clip(worker.host()),
        DashboardView.clip(worker.engine()),
        DashboardView.clip(worker.engineBuild()),
        worker.contextTokens() == 0 ? "" : DashboardView.count(worker.contextTokens()),
        worker.state().name().toLowerCase(Locale.ROOT),
        tone(worker.state()),
        reason(worker, load),
        worker.startedWith().stream().map(ShellLine::quote).toList(),
        worker.startedAt() == null
            ? ""
            : worker.startedAt().truncatedTo(ChronoUnit.SECONDS).toString(),
        facts(worker, load),
        load == null ? 0 : load.inFlight(),
        worker.slots(),
        DashboardView.tokensPerSecond(load));
  }

  private static String tone(WorkerView.State state) {
    return switch (state) {
      case SERVING -> "good";
      case STARTING, PROVING, DRAINING -> "busy";
      case REFUSED, LOST, SUSPECT -> "bad";
      case STOPPED -> "idle";
    };
  }

  private static String reason(WorkerView worker, @Nullable TargetLoad load) {
    if (!worker.stateReason().isEmpty()) {
      return DashboardView.clip(worker.stateReason());
    }
    if (!worker.commandedBy().isEmpty()) {
      return "by " + DashboardView.clip(worker.commandedBy());
    }
    if (load != null && load.setAsideMillis() > 0) {
      return "set aside for " + (load.setAsideMillis() + 999) / 1000 + " s after failed requests";
    }
    return DashboardView.clip(worker.proof());
  }

  private static List<String> facts(WorkerView worker, @Nullable TargetLoad load) {
    return Stream.of(
            worker.pid() == 0 ? "" : "pid " + worker.pid(),
            worker.port() == 0 ? "" : "port " + worker.port(),
            worker.residentBytes() == 0 ? "" : Bytes.text(worker.residentBytes()) + " resident",
            worker.launches() == 0 ? "" : "launch " + worker.launches(),
            load == null || load.served() == 0
                ? ""
                : DashboardView.count(load.served()) + " served",
            load == null || load.failed() == 0
                ? ""
                : DashboardView.count(load.failed()) + " failed")
        .filter(fact -> !fact.isEmpty())
        .toList();
  }
}
