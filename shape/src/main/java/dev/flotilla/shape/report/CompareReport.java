package dev.flotilla.shape.report;

import dev.flotilla.shape.probe.Difference;
import dev.flotilla.shape.probe.ProbeResult;
import dev.flotilla.shape.probe.ProbeResult.LeftOut;
import dev.flotilla.shape.probe.ProbeResult.Replied;
import dev.flotilla.shape.probe.ProbeResult.Silent;
import dev.flotilla.shape.probe.Shape;
import dev.flotilla.shape.report.Compared.Different;
import dev.flotilla.shape.report.Compared.NotCompared;
import dev.flotilla.shape.report.Compared.Same;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * All probes at two servers.
 *
 * @param first what the second is held to
 * @param compared in the order of the probes
 */
public record CompareReport(Server first, Server second, List<Compared> compared) {
  /** Differences of one probe that JSON and JUnit show. */
  private static final int DIFFERENCES_MAX = 50;

  public CompareReport {
    compared = List.copyOf(compared);
  }

  /**
   * One of the two.
   *
   * @param name how it is called in the report
   * @param address as it was typed; it holds no key
   * @param model the model's name in the requests
   */
  public record Server(String name, String address, String model) {}

  /** Puts the results of two runs of the same probes together. */
  public static CompareReport of(
      Server first, List<ProbeResult> firsts, Server second, List<ProbeResult> seconds) {
    List<Compared> compared = new ArrayList<>();
    for (int i = 0; i < firsts.size(); i++) {
      compared.add(Compared.of(firsts.get(i), seconds.get(i)));
    }
    return new CompareReport(first, second, compared);
  }

  public long same() {
    return compared.stream().filter(each -> each.sameness() instanceof Same).count();
  }

  public long different() {
    return compared.stream().filter(each -> each.sameness() instanceof Different).count();
  }

  public long notCompared() {
    return compared.stream().filter(each -> each.sameness() instanceof NotCompared).count();
  }

  /** What became of a probe at one server, in few words: {@code 200 text}, {@code no reply}. */
  public static String inShort(ProbeResult result) {
    return switch (result.outcome()) {
      case LeftOut _ -> "-";
      case Silent _ -> "no reply";
      case Replied replied -> {
        Shape shape = replied.shape();
        String what =
            shape
                .fact("answer")
                .or(() -> shape.fact("error.code").map(code -> "error " + code))
                .or(() -> shape.fact("error").map(_ -> "error"))
                .orElse(shape.seen("body"));
        String thought = shape.seen("reasoning");
        yield shape.seen("status")
            + " "
            + what
            + (thought.equals("none") || thought.equals(Shape.ABSENT) ? "" : ", " + thought);
      }
    };
  }

  /** A difference as a small diff: the place, what the first showed, what the second. */
  public static List<String> diff(Difference difference) {
    return List.of(
        "@@ " + difference.place(), "- " + difference.expected(), "+ " + difference.seen());
  }

  /** The whole report for programs. */
  public ObjectNode json() {
    ObjectNode json = JsonMapper.shared().createObjectNode();
    json.put("same", same()).put("different", different()).put("not_compared", notCompared());
    json.set("first", json(first));
    json.set("second", json(second));
    ArrayNode probes = json.putArray("probes");
    for (Compared each : compared) {
      ObjectNode probe = probes.addObject();
      probe.put("probe", each.probe().name()).put("asks", each.probe().asks());
      probe.put("result", each.sameness().word());
      if (each.sameness() instanceof NotCompared not) {
        probe.put("why", not.why());
      }
      if (each.sameness() instanceof Different different) {
        ArrayNode differences = probe.putArray("differences");
        different.differences().stream()
            .limit(DIFFERENCES_MAX)
            .forEach(difference ->
                differences
                    .addObject()
                    .put("place", difference.place())
                    .put("first", difference.expected())
                    .put("second", difference.seen()));
      }
      probe.set("first", json(each.first()));
      probe.set("second", json(each.second()));
    }
    return json;
  }

  private static ObjectNode json(Server server) {
    return JsonMapper.shared()
        .createObjectNode()
        .put("name", server.name())
        .put("address", server.address())
        .put("model", server.model());
  }

  private static ObjectNode json(ProbeResult result) {
    ObjectNode json = JsonMapper.shared().createObjectNode();
    json.put("seconds", result.took().toMillis() / 1e3);
    switch (result.outcome()) {
      case LeftOut left -> json.put("left_out", left.why());
      case Silent silent -> json.put("no_reply", silent.why());
      case Replied replied -> {
        ObjectNode shape = json.putObject("shape");
        replied.shape().facts().forEach(shape::put);
      }
    }
    return json;
  }
}
