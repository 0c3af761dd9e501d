package dev.flotilla.agent.models;

import dev.flotilla.agent.models.FileRequests.Order;
import dev.flotilla.agent.models.ModelSource.HuggingFace;
import dev.flotilla.agent.models.ModelSource.HuggingFaceFolder;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLEncoder;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What Hugging Face (or the mirror that {@code HF_ENDPOINT} names) says of a file: its address at
 * the newest commit, and for large files size and SHA-256.
 *
 * <p>The token of {@code HF_TOKEN} goes to the endpoint's own origin only.
 */
final class HuggingFaceFiles {

  /**
   * @param order what to fetch
   * @param commit the repository's commit, empty where it is not said
   */
  record Found(Order order, String commit) {}

  private static final int LISTING_BYTES_MAX = 4 << 20;
  private static final Pattern SHA256 = Pattern.compile("[0-9a-f]{64}");
  private static final Pattern COMMIT = Pattern.compile("[0-9a-f]{40}");

  private final FileRequests requests;
  private final String endpoint;
  private final String token;

  /**
   * @param environment looked up for {@code HF_ENDPOINT} and {@code HF_TOKEN}
   */
  HuggingFaceFiles(FileRequests requests, Map<String, String> environment) {
    this.requests = requests;
    String named = environment.getOrDefault("HF_ENDPOINT", "").strip();
    this.endpoint = (named.isEmpty() ? "https://huggingface.co" : named).replaceAll("/+$", "");
    this.token = environment.getOrDefault("HF_TOKEN", "").strip();
  }

  /**
   * What a repository holds.
   *
   * @param commit the newest one
   * @param files names of its files, with slashes where they are in folders
   */
  record Listing(String commit, List<String> files) {}

  /** Asks for a repository's newest commit and its files. */
  Listing list(String source, HuggingFaceFolder folder)
      throws DownloadFailed, IOException, InterruptedException {
    String name = folder.owner() + "/" + folder.repo();
    Order order =
        order(
            source,
            address("/api/models/" + name + "/revision/main"),
            Path.of("listing"), // nothing is written
            -1,
            "");
    HttpResponse<InputStream> reply = requests.get(order, null);
    byte[] body;
    try (InputStream in = reply.body()) {
      body = in.readNBytes(LISTING_BYTES_MAX);
    }
    if (reply.statusCode() >= 400) {
      throw new DownloadFailed(FileRequests.refusal(order, reply.statusCode()));
    }
    try {
      JsonNode json = JsonMapper.shared().readTree(body);
      String commit = json.path("sha").asString("");
      List<String> files = new ArrayList<>();
      json.path("siblings").forEach(file -> files.add(file.path("rfilename").asString("")));
      if (COMMIT.matcher(commit).matches() && !files.isEmpty()) {
        return new Listing(commit, files);
      }
    } catch (JacksonException e) {
      // Said below, as for JSON of another form.
    }
    throw new DownloadFailed(
        "%s was answered with no list of files at %s."
            .formatted(source, WebAddress.shown(order.address())));
  }

  /**
   * Where the file is.
   *
   * @param revision a commit, or {@code main}
   */
  Found find(String source, HuggingFace file, String revision, Path part)
      throws DownloadFailed, InterruptedException {
    Order main = order(source, address(file, revision), part, -1, "");
    HttpResponse<Void> head = requests.head(main);
    int status = head.statusCode();
    if (status == 405 || status == 501) {
      return new Found(main, "");
    }
    if (status >= 400) {
      throw new DownloadFailed(FileRequests.refusal(main, status));
    }
    String commit = FileRequests.header(head, "x-repo-commit");
    commit = COMMIT.matcher(commit).matches() ? commit : "";
    String digest = unquoted(FileRequests.header(head, "x-linked-etag"));
    digest = digest.isEmpty() ? unquoted(FileRequests.header(head, "etag")) : digest;
    String linkedSize = FileRequests.header(head, "x-linked-size");
    long size = -1;
    if (linkedSize.matches("\\d{1,18}")) {
      size = Long.parseLong(linkedSize);
    } else if (status == 200) {
      size = FileRequests.length(head);
    }
    return new Found(
        order(
            source,
            commit.isEmpty() ? main.address() : address(file, commit),
            part,
            size,
            SHA256.matcher(digest).matches() ? digest : ""),
        commit);
  }

  private Order order(String source, URI address, Path part, long size, String sha256) {
    return new Order(source, address, token, part, size, sha256, "downloading", false);
  }

  private URI address(HuggingFace file, String revision) throws DownloadFailed {
    String path =
        List.copyOf(file.file()).stream()
            .map(segment -> URLEncoder.encode(segment, StandardCharsets.UTF_8).replace("+", "%20"))
            .collect(Collectors.joining("/"));
    return address("/" + file.owner() + "/" + file.repo() + "/resolve/" + revision + "/" + path);
  }

  private URI address(String path) throws DownloadFailed {
    try {
      URI address = new URI(endpoint + path);
      String refusal = WebAddress.refusal(address);
      if (!refusal.isEmpty()) {
        throw new DownloadFailed("HF_ENDPOINT " + refusal);
      }
      return address;
    } catch (URISyntaxException e) {
      throw new DownloadFailed("HF_ENDPOINT is not an address: " + e.getReason() + ".");
    }
  }

  private static String unquoted(String etag) {
    String text = etag.startsWith("W/") ? etag.substring(2) : etag;
    return text.replace("\"", "").toLowerCase(Locale.ROOT);
  }
}
