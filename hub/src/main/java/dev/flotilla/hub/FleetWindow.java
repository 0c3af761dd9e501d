package dev.flotilla.hub;

import dev.flotilla.hub.api.HubStatus;
import dev.flotilla.hub.fleet.Fleet;
import dev.flotilla.hub.fleet.NodeView;
import dev.flotilla.hub.fleet.WorkerView;
import dev.flotilla.hub.proof.ProofArchive;
import dev.flotilla.hub.proof.ProofRecord;
import dev.flotilla.hub.reports.Reports;
import dev.flotilla.hub.routing.Dispatcher;
import dev.flotilla.hub.routing.FleetSnapshot;
import dev.flotilla.hub.routing.TargetLoad;
import dev.flotilla.hub.store.Event;
import dev.flotilla.hub.ui.DashboardData;
import java.util.List;
import java.util.function.Supplier;

/** What the dashboard sees of the hub: its parts, read at the moment of the call. */
record FleetWindow(
    Fleet fleetParts,
    Dispatcher dispatcher,
    RecentEvents recent,
    ProofArchive archive,
    Reports stored,
    Supplier<List<HubStatus.Notice>> notices)
    implements DashboardData {

  @Override
  public List<WorkerView> workers() {
    return fleetParts.workers();
  }

  @Override
  public List<NodeView> nodes() {
    return fleetParts.nodes();
  }

  @Override
  public List<TargetLoad> loads() {
    return dispatcher.loads();
  }

  @Override
  public FleetSnapshot fleet() {
    return fleetParts.current();
  }

  @Override
  public List<Event> events(int count) {
    return recent.newest(count);
  }

  @Override
  public List<Progress> progress() {
    return fleetParts.progress().stream()
        .map(step ->
            new Progress(
                step.node(), step.subject(), step.step(), step.doneBytes(), step.totalBytes()))
        .toList();
  }

  @Override
  public List<ProofRecord> proofs() {
    return archive.latest();
  }

  @Override
  public List<Report> reports(int count) {
    return stored.heads().stream()
        .limit(count)
        .map(head -> new Report(head, stored.path(head.id())))
        .toList();
  }

  @Override
  public List<Notice> banner() {
    return notices.get().stream()
        .map(notice -> new Notice(notice.severity(), notice.message()))
        .toList();
  }

  @Override
  public void onChange(Runnable listener) {
    fleetParts.onChange(listener);
    recent.onChange(listener);
    stored.onChange(listener);
  }
}
