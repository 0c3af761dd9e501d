package dev.flotilla.hub.fleet;

import dev.flotilla.hub.fleet.WorkerView.State;
import dev.flotilla.hub.store.Journal;
import dev.flotilla.wire.fleet.WorkerReport;
import dev.flotilla.wire.lanes.ControlMessage;
import dev.flotilla.wire.lanes.ControlMessage.Severity;
import dev.flotilla.wire.text.Counted;
import java.time.Duration;
import java.util.Set;

/** The fleet's story in sentences: one event for each change, none for what stays. */
final class FleetEvents {
  /**
   * What the hub tells itself, from what agents report of their workers: it knows more words for
   * it, and no report is lost.
   */
  private static final Set<String> TOLD_HERE =
      Set.of(
          "worker-ready",
          "worker-refused",
          "worker-died",
          "worker-unresponsive",
          "worker-replaced",
          "worker-broken",
          "worker-not-ready");

  private static final int KIND_CHARS_MAX = 64;
  private static final int SUBJECT_CHARS_MAX = 300;
  private static final int MESSAGE_CHARS_MAX = 2000;

  private final Journal journal;

  FleetEvents(Journal journal) {
    this.journal = journal;
  }

  void nodeJoined(FleetNode node) {
    info("node-joined", node.name, "Node %s joined: %s.".formatted(node.name, machine(node)));
  }

  void nodeBack(FleetNode node) {
    info(
        "node-back",
        node.name,
        "Node %s is back with %s.".formatted(node.name, Counted.of(node.workers.size(), "worker")));
  }

  void nodeSilent(FleetNode node, Duration silence) {
    warn(
        "node-silent",
        node.name,
        "Node %s has been silent for %.1f s: nothing new is sent to it."
            .formatted(node.name, silence.toMillis() / 1000.0));
  }

  void nodeTorn(FleetNode node, String why) {
    warn(
        "node-left",
        node.name,
        "The connection of node %s broke (%s): nothing new is sent to it until it is back; what runs goes on while its own connections live."
            .formatted(node.name, why));
  }

  void nodeEnded(FleetNode node, String why) {
    info(
        "node-left",
        node.name,
        "The agent of node %s ended%s; %s ended with it."
            .formatted(
                node.name,
                why.isEmpty() ? "" : " (" + why + ")",
                Counted.of(node.workers.size(), "worker")));
  }

  void nodeGone(FleetNode node, Duration grace) {
    warn(
        "node-gone",
        node.name,
        "Node %s has been away for %d s: its workers are placed elsewhere where that is possible."
            .formatted(node.name, grace.toSeconds()));
  }

  void nodeRefused(String node, String code, String why) {
    warn(
        "node-refused",
        node,
        "An agent that calls itself %s was refused (%s): %s".formatted(node, code, why));
  }

  void updateOffered(FleetNode node, NodeUpdate update) {
    info(
        "update-offered",
        node.name,
        "Node %s is offered version %s; it runs %s."
            .formatted(node.name, update.version(), update.before()));
  }

  void updateDeclined(FleetNode node, String version, String why) {
    warn(
        "update-declined",
        node.name,
        "Node %s does not take version %s: %s."
            .formatted(node.name, version, cut(why, MESSAGE_CHARS_MAX)));
  }

  void updateReady(FleetNode node, String version) {
    info(
        "update-ready",
        node.name,
        "Node %s has version %s ready: it takes nothing new, finishes what runs and is replaced."
            .formatted(node.name, version));
  }

  void updateDone(FleetNode node, NodeUpdate update) {
    info(
        "update-done",
        node.name,
        "Node %s runs version %s, generation %d; before it ran %s."
            .formatted(node.name, update.version(), node.generation, update.before()));
  }

  void updateFailed(FleetNode node, String version, String why) {
    warn(
        "update-failed",
        node.name,
        "Node %s stays with version %s, version %s failed: %s."
            .formatted(node.name, node.agentVersion, version, cut(why, MESSAGE_CHARS_MAX)));
  }

  void placed(FleetWorker worker) {
    info(
        "worker-placed",
        worker.id(),
        "%s was placed on node %s: %s with %s."
            .formatted(worker.id(), worker.node.name, worker.spec.engine(), worker.spec.source()));
  }

  void adopted(FleetWorker worker) {
    info(
        "worker-adopted",
        worker.id(),
        "%s was running on node %s already and is kept.".formatted(worker.id(), worker.node.name));
  }

  void leaves(FleetWorker worker) {
    info(
        "worker-draining",
        worker.id(),
        "%s takes nothing new and is stopped when what runs is finished: %s."
            .formatted(worker.id(), worker.exitWhy));
  }

  void drainAsked(FleetWorker worker, String by) {
    info(
        "worker-draining",
        worker.id(),
        "%s takes nothing new: drained by %s.".formatted(worker.id(), by));
  }

  void drained(FleetWorker worker, int cut, Duration limit) {
    if (cut == 0) {
      info("worker-drained", worker.id(), "%s has finished what ran.".formatted(worker.id()));
    } else {
      warn(
          "worker-drained",
          worker.id(),
          "%s did not finish within %d s: %s cut."
              .formatted(
                  worker.id(),
                  limit.toSeconds(),
                  Counted.of(cut, "request") + (cut == 1 ? " was" : " were")));
    }
  }

  void resumed(FleetWorker worker, String by) {
    info(
        "worker-resumed",
        worker.id(),
        "%s takes requests again: resumed by %s.".formatted(worker.id(), by));
  }

  void restarting(FleetWorker worker, String why) {
    info("worker-restarting", worker.id(), "%s is started again: %s.".formatted(worker.id(), why));
  }

  void provedAgain(FleetWorker worker, String why) {
    warn(
        "worker-draining",
        worker.id(),
        "%s %s: it takes nothing new and is proved again.".formatted(worker.id(), why));
  }

  void stopped(FleetWorker worker) {
    info(
        "worker-stopped", worker.id(), "%s is stopped: %s.".formatted(worker.id(), worker.exitWhy));
  }

  void nodeDrained(FleetNode node, String by) {
    info(
        "node-draining",
        node.name,
        "Node %s takes nothing new: drained by %s.".formatted(node.name, by));
  }

  void nodeResumed(FleetNode node, String by) {
    info(
        "node-resumed",
        node.name,
        "Node %s takes requests again: resumed by %s.".formatted(node.name, by));
  }

  void backendKeyMissing(String backend, String variable) {
    warn(
        "backend-without-key",
        backend,
        "Backend %s is not used: the hub's environment has no variable %s."
            .formatted(backend, variable));
  }

  /** A backend answers again, or does not any more; its first answer is no news. */
  void backendHeard(String backend, BackendView.State from, String trouble) {
    if (!trouble.isEmpty()) {
      warn(
          "backend-unreachable",
          backend,
          "Backend %s is unreachable: %s. Nothing is sent to it until it answers."
              .formatted(backend, trouble));
    } else if (from == BackendView.State.UNREACHABLE) {
      info("backend-back", backend, "Backend %s answers again.".formatted(backend));
    }
  }

  /** A worker's state changed. */
  void changed(FleetWorker worker, State from, State to, boolean sameLaunch) {
    switch (to) {
      case SERVING -> {
        if (worker.wasLost && sameLaunch) {
          info("worker-back", worker.id(), worker.id() + " is back and takes requests.");
        } else if (!sameLaunch
            || from == State.STARTING
            || from == State.PROVING
            || from == State.REFUSED
            || from == State.STOPPED) {
          ready(worker);
        }
      }
      case LOST ->
          warn(
              "worker-lost",
              worker.id(),
              "%s is lost: %s.".formatted(worker.id(), worker.node.contactReason));
      case REFUSED -> {
        if (from != State.REFUSED) {
          warn(
              "worker-refused",
              worker.id(),
              worker.fellShort()
                  ? "%s is refused, nothing is sent to it: %s."
                      .formatted(worker.id(), worker.explain())
                  : "%s can't be started: %s".formatted(worker.id(), worker.explain()));
        }
      }
      case STARTING -> {
        boolean told = worker.awaitsLaunch() || worker.isPausing();
        if ((from == State.SERVING || from == State.SUSPECT || from == State.DRAINING) && !told) {
          warn(
              "worker-died",
              worker.id(),
              "%s does not serve any more: %s.".formatted(worker.id(), worker.explain()));
        }
      }
      case PROVING, DRAINING, SUSPECT, STOPPED -> {
        // Told by whoever caused it: a command, a placement, a node's contact.
      }
    }
  }

  /** A launch that was ready died. */
  void died(FleetWorker worker) {
    warn("worker-died", worker.id(), "%s died: %s".formatted(worker.id(), worker.startingReason()));
  }

  /** A launch ended before it was ready. */
  void notReady(FleetWorker worker) {
    warn(
        "worker-not-ready",
        worker.id(),
        "%s did not start: %s".formatted(worker.id(), worker.startingReason()));
  }

  void nodeForgotten(String node, String by, int workers) {
    info(
        "node-forgotten",
        node,
        "Node %s was forgotten by %s%s: another agent may take its name."
            .formatted(
                node, by, workers == 0 ? "" : ", with its " + Counted.of(workers, "worker")));
  }

  private void ready(FleetWorker worker) {
    WorkerReport report = worker.report;
    if (report == null) {
      return;
    }
    info(
        "worker-ready",
        worker.id(),
        "%s serves %s: %s, context %d, %s."
            .formatted(
                worker.id(),
                worker.spec.model(),
                report.engineBuild().isEmpty()
                    ? report.engine()
                    : report.engine() + " " + report.engineBuild(),
                report.contextTokens(),
                Counted.of(report.slots(), "slot")));
  }

  /** What an agent wants to be read later; cut to size, since an agent may be anyone's. */
  void fromAgent(FleetNode node, ControlMessage.Happened happened) {
    if (TOLD_HERE.contains(happened.kind()) || !node.eventRate.admit()) {
      return;
    }
    long lost = node.eventRate.takeRefused();
    if (lost > 0) {
      warn(
          "events-dropped",
          node.name,
          "%s of node %s were dropped: it sends too many."
              .formatted(Counted.of(lost, "event"), node.name));
    }
    String subject = happened.subject().isBlank() ? node.name : happened.subject();
    journal.event(
        happened.severity(),
        cut(happened.kind(), KIND_CHARS_MAX),
        cut(subject, SUBJECT_CHARS_MAX),
        cut(happened.message(), MESSAGE_CHARS_MAX));
  }

  private static String machine(FleetNode node) {
    return node.facts == null
        ? "agent " + node.agentVersion
        : "%s, %s %s, %d cores, %.1f GiB, agent %s"
            .formatted(
                node.facts.host(),
                node.facts.os(),
                node.facts.arch(),
                node.facts.physicalCores(),
                node.facts.memoryTotalBytes() / (double) (1L << 30),
                node.agentVersion);
  }

  private static String cut(String text, int charsMax) {
    return text.length() <= charsMax ? text : text.substring(0, charsMax);
  }

  private void info(String kind, String subject, String message) {
    journal.event(Severity.INFO, kind, subject, message);
  }

  private void warn(String kind, String subject, String message) {
    journal.event(Severity.WARNING, kind, subject, message);
  }
}
