package dev.flotilla.cli.serve;

import dev.flotilla.agent.AgentListener;
import dev.flotilla.wire.fleet.WorkerReport;
import dev.flotilla.wire.lanes.ControlMessage.Happened;

/**
 * Tells nobody: the hub in the same process hears all of it by its lane, and is looked at there.
 */
public final class QuietNews implements AgentListener {
  public QuietNews() {}

  @Override
  public void connected(String hubId) {}

  @Override
  public void disconnected(String why) {}

  @Override
  public void workerChanged(WorkerReport report) {}

  @Override
  public void happened(Happened event) {}

  @Override
  public void progress(
      String subject, String step, long doneBytes, long totalBytes, boolean finished) {}
}
