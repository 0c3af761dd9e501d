package dev.flotilla.hub;

import static dev.flotilla.hub.HubCalls.delete;
import static dev.flotilla.hub.HubCalls.get;
import static dev.flotilla.hub.HubCalls.json;
import static dev.flotilla.hub.HubCalls.message;
import static dev.flotilla.hub.HubCalls.post;
import static dev.flotilla.hub.HubCalls.send;
import static dev.flotilla.hub.HubCalls.uri;
import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.wire.release.Release;
import dev.flotilla.wire.release.ReleaseKey;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.LocalDateTime;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Releases in a whole hub: sent, listed, handed out to nodes, taken back. */
final class HubReleasesTest {
  private static final ReleaseKey.Pair SIGNER = ReleaseKey.generate();
  private static final int JAR_BYTES = 200_000;

  @TempDir private Path home;

  @Test
  void whatIsSentIsOfferedAndOutlivesTheHub() throws Exception {
    try (Hub hub = Hub.start(HubConfig.local(home))) {
      assertThat(json(get(hub, "/api/releases"))).isEmpty();
      HttpResponse<String> sent = offer(hub, "0.2.0+5.gabc", false);
      assertThat(sent.statusCode()).as(sent.body()).isEqualTo(200);
      assertThat(json(sent).path("message").asString())
          .startsWith("version 0.2.0+5.gabc is offered to agents that are older");
      assertThat(json(offer(hub, "0.1.9", false)).path("message").asString())
          .isEqualTo("version 0.1.9 is kept; what is offered is the newest, 0.2.0+5.gabc");
    }
    Files.writeString(home.resolve("hub/releases/incoming"), "cut in the middle");
    Files.writeString(home.resolve("hub/releases/flotilla-0.3.0.zip"), "without a note");
    Files.writeString(home.resolve("hub/releases/flotilla-9.zip.json"), "{\"version\":\"9\"}");
    try (Hub hub = Hub.start(HubConfig.local(home))) {
      JsonNode listed = json(get(hub, "/api/releases"));
      assertThat(listed.findValuesAsString("name")).containsExactly("0.2.0+5.gabc", "0.1.9");
      assertThat(listed.get(0).path("offered").asBoolean()).isTrue();
      assertThat(listed.get(1).path("offered").asBoolean()).isFalse();
      assertThat(files()).as("what no release has is gone").hasSize(4);

      assertThat(delete(hub, "/api/releases/0.2.0%2B5.gabc").statusCode()).isEqualTo(200);
      assertThat(delete(hub, "/api/releases/0.2.0%2B5.gabc").statusCode()).isEqualTo(404);
      assertThat(json(get(hub, "/api/releases")).get(0).path("offered").asBoolean()).isTrue();
      assertThat(files()).hasSize(2);
    }
  }

  @Test
  void theSameFileIsTakenOnceAndOfferedAgainByRequestAnotherUnderItsNameNever() throws Exception {
    try (Hub hub = Hub.start(HubConfig.local(home))) {
      offer(hub, "0.2.0", false);
      assertThat(json(offer(hub, "0.2.0", false)).path("message").asString())
          .isEqualTo("version 0.2.0 is here already; --again offers it anew");
      assertThat(offer(hub, "0.2.0", true).statusCode()).isEqualTo(200);
      assertThat(json(get(hub, "/api/releases")).get(0).path("attempt").asLong()).isEqualTo(2);

      byte[] other = new byte[100];
      HttpResponse<String> refused = offer(hub, release("0.2.0", other), other, true);
      assertThat(refused.statusCode()).isEqualTo(409);
      assertThat(message(refused)).contains("withdraw it first ('flotilla update withdraw 0.2.0')");
    }
  }

  @Test
  void theSameFileWithAnotherSignatureIsRefusedAndWhatIsOfferedStaysAsItWas() throws Exception {
    try (Hub hub = Hub.start(HubConfig.local(home))) {
      offer(hub, "0.2.0", false);
      byte[] file = file("0.2.0");
      Release other = release("0.2.0", file, ReleaseKey.generate());
      for (boolean again : new boolean[] {false, true}) {
        HttpResponse<String> refused = offer(hub, other, file, again);
        assertThat(refused.statusCode()).isEqualTo(409);
        assertThat(message(refused))
            .startsWith(
                "the same file is stored with another signature as version 0.2.0: withdraw");
      }
      assertThat(json(get(hub, "/api/releases")).get(0).path("attempt").asLong()).isEqualTo(1);

      assertThat(delete(hub, "/api/releases/0.2.0").statusCode()).isEqualTo(200);
      assertThat(offer(hub, other, file, false).statusCode()).isEqualTo(200);
    }
  }

  @Test
  void whatIsNotWhatItSaysIsRefusedAndNothingIsKept() throws Exception {
    try (Hub hub = Hub.start(HubConfig.local(home))) {
      byte[] file = file("0.2.0");
      Release good = release("0.2.0", file);
      byte[] changed = file.clone();
      changed[7] ^= 1;
      refused(offer(hub, good, changed, false), "the file has SHA-256 ");
      refused(offer(hub, good, new byte[10], false), "the file has 10 bytes");
      refused(
          offer(hub, good, new byte[file.length + 1], false),
          "more than the " + file.length + " bytes");
      byte[] noArchive = new byte[100];
      refused(offer(hub, release("0.2.0", noArchive), noArchive, false), "is no release's archive");
      refused(
          offer(hub, release("0.3.0", file), file, false),
          "the archive calls itself version \"0.2.0\", and its release says 0.3.0");
      refused(
          offer(hub, new Release("../x", 1, good.sha256(), good.signature()), file, false),
          "a release's version is like 0.1.0");
      refused(
          offer(hub, new Release("0.2.0", 1L << 40, good.sha256(), good.signature()), file, false),
          "a release has 1 to 67108864 bytes");
      refused(offer(hub, new Release("0.2.0", 9, "x", good.signature()), file, false), "SHA-256");
      refused(post(hub, "/api/releases", "x"), "the query needs \"version\"");
      assertThat(files()).isEmpty();
      assertThat(json(get(hub, "/api/releases"))).isEmpty();

      offer(hub, "0.2.0", false);
      byte[] cut = Arrays.copyOf(file, file.length - 1);
      refused(offer(hub, good, cut, false), "the file has " + cut.length + " bytes");
      refused(offer(hub, good, changed, true), "the file has SHA-256 ");
      assertThat(json(get(hub, "/api/releases")).get(0).path("attempt").asLong()).isEqualTo(1);
    }
  }

  @Test
  void onlyTheNewestFewAreKept() throws Exception {
    try (Hub hub = Hub.start(HubConfig.local(home))) {
      for (String version : List.of("0.3", "0.1", "0.5", "0.2", "0.4")) {
        offer(hub, version, false);
      }
      assertThat(json(get(hub, "/api/releases")).findValuesAsString("name"))
          .containsExactly("0.5", "0.4", "0.3", "0.2");
      assertThat(files()).hasSize(8);
    }
  }

  @Test
  void aNodeGetsItFromAnyByteOnAndNobodyElseDoes() throws Exception {
    try (Hub hub = Hub.start(HubConfig.local(home))) {
      offer(hub, "0.2.0+5.gabc", false);
      int size = file("0.2.0+5.gabc").length;
      String token = hub.tokens().oneShot();
      String credential =
          json(post(
                  hub,
                  "/api/enrol",
                  "{\"token\":\"%s\",\"node\":\"box\",\"agentId\":\"a1\"}".formatted(token)))
              .path("credential")
              .asString();

      assertThat(length(download(hub, "0.2.0%2B5.gabc", "box", credential, ""))).isEqualTo(size);
      HttpResponse<String> rest =
          download(hub, "0.2.0%2B5.gabc", "box", credential, "bytes=" + (size - 10) + "-");
      assertThat(rest.statusCode()).isEqualTo(206);
      assertThat(rest.headers().firstValue("content-range"))
          .hasValue("bytes %d-%d/%d".formatted(size - 10, size - 1, size));
      assertThat(length(rest)).isEqualTo(10);
      assertThat(
              download(hub, "0.2.0%2B5.gabc", "box", credential, "bytes=" + size + "-")
                  .statusCode())
          .isEqualTo(416);
      assertThat(download(hub, "0.2.1", "box", credential, "").statusCode()).isEqualTo(404);
      assertThat(download(hub, "..%2F..%2Fid", "box", credential, "").statusCode()).isEqualTo(404);
      assertThat(download(hub, "0.2.0%2B5.gabc", "den", credential, "").statusCode())
          .isEqualTo(401);
      assertThat(download(hub, "0.2.0%2B5.gabc", "box", "fn-guessed", "").statusCode())
          .isEqualTo(401);
      assertThat(get(hub, "/lanes/releases/0.2.0%2B5.gabc").statusCode()).isEqualTo(401);
    }
  }

  /** Of a body that has come whole. */
  private static long length(HttpResponse<String> response) {
    return response.headers().firstValueAsLong("content-length").orElseThrow();
  }

  private static HttpResponse<String> download(
      Hub hub, String version, String node, String credential, String range) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(uri(hub, "/lanes/releases/" + version))
            .header("Authorization", "Bearer " + credential)
            .header("x-flotilla-node", node);
    if (!range.isEmpty()) {
      request.header("Range", range);
    }
    return send(request);
  }

  private static void refused(HttpResponse<String> response, String why) {
    assertThat(response.statusCode()).as(response.body()).isEqualTo(400);
    assertThat(message(response)).contains(why);
  }

  private static HttpResponse<String> offer(Hub hub, String version, boolean again)
      throws Exception {
    byte[] file = file(version);
    return offer(hub, release(version, file), file, again);
  }

  /** An archive that calls itself so; the same bytes each time. */
  private static byte[] file(String version) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(out)) {
      put(zip, "version", version.getBytes(StandardCharsets.UTF_8));
      byte[] jar = new byte[JAR_BYTES];
      new Random(1).nextBytes(jar);
      put(zip, "lib/a.jar", jar);
    }
    return out.toByteArray();
  }

  private static void put(ZipOutputStream zip, String name, byte[] content) throws IOException {
    ZipEntry entry = new ZipEntry(name);
    entry.setTimeLocal(LocalDateTime.of(2000, 1, 1, 0, 0));
    zip.putNextEntry(entry);
    zip.write(content);
    zip.closeEntry();
  }

  private static HttpResponse<String> offer(Hub hub, Release release, byte[] file, boolean again)
      throws Exception {
    String query =
        "?version=%s&bytes=%d&sha256=%s&signature=%s&again=%s"
            .formatted(
                encoded(release.version()),
                release.bytes(),
                encoded(release.sha256()),
                encoded(release.signature()),
                again);
    return send(
        HttpRequest.newBuilder(uri(hub, "/api/releases" + query))
            .POST(BodyPublishers.ofByteArray(file)));
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  private static Release release(String version, byte[] file) throws Exception {
    return release(version, file, SIGNER);
  }

  private static Release release(String version, byte[] file, ReleaseKey.Pair signer)
      throws Exception {
    String digest = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(file));
    Release unsigned = new Release(version, file.length, digest, "");
    return new Release(
        version, file.length, digest, ReleaseKey.sign(signer.privatePem(), unsigned.signedBytes()));
  }

  private List<String> files() throws Exception {
    try (Stream<Path> files = Files.list(home.resolve("hub/releases"))) {
      return files.map(file -> String.valueOf(file.getFileName())).sorted().toList();
    }
  }
}
