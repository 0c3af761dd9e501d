package dev.flotilla.hub.api;

import dev.flotilla.hub.fleet.Fleet;
import dev.flotilla.hub.fleet.NodeView;
import dev.flotilla.hub.releases.Releases;
import dev.flotilla.hub.releases.StoredRelease;
import dev.flotilla.wire.openai.ApiError;
import dev.flotilla.wire.release.Release;
import dev.flotilla.wire.release.ReleaseVersion;
import dev.flotilla.wire.text.Names;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code /api/releases}: versions that agents are brought to are taken in, listed, taken back. */
final class ReleaseCalls {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private final Releases releases;
  private final Fleet fleet;
  private final Semaphore room = new Semaphore(1);

  ReleaseCalls(Releases releases, Fleet fleet) {
    this.releases = releases;
    this.fleet = fleet;
  }

  JsonNode list() {
    ArrayNode list = MAPPER.createArrayNode();
    List<StoredRelease> all = releases.all();
    List<NodeView> nodes = fleet.nodes();
    for (StoredRelease release : all) {
      ObjectNode node =
          list.addObject()
              .put("name", release.version())
              .put("offered", release.equals(all.getFirst()))
              .put("bytes", release.bytes())
              .put("sha256", release.sha256())
              .put("attempt", release.attempt())
              .put("at", release.at().toString())
              .put("by", release.by());
      ArrayNode running = node.putArray("runningOn");
      ArrayNode older = node.putArray("olderAre");
      for (NodeView each : nodes) {
        if (each.agentVersion().equals(release.version())) {
          running.add(each.name());
        } else if (ReleaseVersion.isOlder(each.agentVersion(), release.version())) {
          older.add(each.name() + (each.update().isEmpty() ? "" : " (" + each.update() + ")"));
        }
      }
    }
    return list;
  }

  /** The body is the file; what its release says is in the query. */
  JsonNode add(ApiCall call) throws ApiRefusal {
    Release release =
        new Release(
            needed(call, "version"),
            call.number("bytes", 0, 0, Long.MAX_VALUE),
            needed(call, "sha256"),
            needed(call, "signature"));
    boolean again = call.flag("again");
    if (!room.tryAcquire()) {
      throw new ApiRefusal(
          ApiError.unavailable(
              "too_many_releases",
              "the hub takes in one release at a time; send this one again",
              Duration.ofSeconds(5)));
    }
    try (InputStream body = call.request().content().inputStream()) {
      return MAPPER
          .createObjectNode()
          .put("name", release.version())
          .put("message", releases.add(release, body, again, call.by()));
    } catch (Releases.Rejected e) {
      throw new ApiRefusal(
          new ApiError(
              e.isConflict() ? 409 : 400,
              "invalid_request_error",
              e.isConflict() ? "release_exists" : "invalid_release",
              String.valueOf(e.getMessage()),
              null,
              null));
    } catch (IOException e) {
      throw new ApiRefusal(
          new ApiError(
              507,
              "server_error",
              "release_not_kept",
              "the release could not be kept: " + e.getMessage(),
              null,
              null));
    } finally {
      room.release();
    }
  }

  JsonNode remove(ApiCall call) throws ApiRefusal {
    String version = call.path("version");
    try {
      if (releases.remove(version, call.by())) {
        return MAPPER
            .createObjectNode()
            .put("message", "version " + version + " is withdrawn; agents that run it keep it");
      }
    } catch (IOException e) {
      throw new ApiRefusal(
          new ApiError(
              500,
              "server_error",
              "release_not_removed",
              "the release could not be removed: " + e.getMessage(),
              null,
              null));
    }
    throw new ApiRefusal(
        ApiError.notFound("unknown_name", "there is no release " + Names.shown(version)));
  }

  private static String needed(ApiCall call, String name) throws ApiRefusal {
    Optional<String> value = call.query(name);
    if (value.isEmpty()) {
      throw ApiCall.refusal("missing_field", "the query needs \"" + name + "\"", name);
    }
    return value.get();
  }
}
