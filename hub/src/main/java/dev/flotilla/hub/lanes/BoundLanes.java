package dev.flotilla.hub.lanes;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The opened lanes of one node that wait for their worker's next request, last in first out, so
 * that the surplus grows old and is closed. Guarded by the pool's lock.
 */
final class BoundLanes {

  /** One launch of a worker. */
  record Launch(String worker, long generation) {}

  private final Map<Launch, Deque<WorkLane>> idle = new HashMap<>();
  private final Map<String, Long> current = new HashMap<>();

  /** Lanes of this launch, and of no other of the worker, are kept from now on. */
  void serves(String worker, long generation) {
    current.put(worker, generation);
  }

  void stopped(String worker) {
    current.remove(worker);
  }

  /** Puts a lane in, where its launch is the worker's current one. */
  boolean offer(WorkLane lane, long now) {
    Long generation = current.get(lane.worker);
    if (generation == null || generation != lane.workerGeneration) {
      return false;
    }
    lane.place = WorkLane.Place.BOUND;
    lane.idleSince = now;
    idle.computeIfAbsent(launch(lane), _ -> new ArrayDeque<>()).addFirst(lane);
    return true;
  }

  @Nullable WorkLane poll(Launch launch) {
    Deque<WorkLane> lanes = idle.get(launch);
    if (lanes == null) {
      return null;
    }
    WorkLane lane = lanes.pollFirst();
    if (lanes.isEmpty()) {
      idle.remove(launch);
    }
    return lane;
  }

  void remove(WorkLane lane) {
    Deque<WorkLane> lanes = idle.get(launch(lane));
    if (lanes != null && lanes.remove(lane) && lanes.isEmpty()) {
      idle.remove(launch(lane));
    }
  }

  List<WorkLane> matching(Predicate<WorkLane> which) {
    List<WorkLane> found = new ArrayList<>();
    idle.values().forEach(lanes -> lanes.stream().filter(which).forEach(found::add));
    return found;
  }

  private static Launch launch(WorkLane lane) {
    return new Launch(lane.worker, lane.workerGeneration);
  }

  /** For tests: fails where a lane is filed under another launch or is not bound. */
  int checkInvariants() {
    int count = 0;
    for (Map.Entry<Launch, Deque<WorkLane>> entry : idle.entrySet()) {
      for (WorkLane lane : entry.getValue()) {
        if (lane.place != WorkLane.Place.BOUND || !entry.getKey().equals(launch(lane))) {
          throw new AssertionError(
              "a lane of "
                  + launch(lane)
                  + " that is "
                  + lane.place
                  + " is under "
                  + entry.getKey());
        }
        count++;
      }
    }
    return count;
  }
}
