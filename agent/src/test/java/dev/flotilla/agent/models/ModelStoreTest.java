package dev.flotilla.agent.models;

import static dev.flotilla.agent.models.RawHttpServer.breakingAfter;
import static dev.flotilla.agent.models.RawHttpServer.file;
import static dev.flotilla.agent.models.RawHttpServer.head;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.flotilla.agent.engine.ModelForm;
import dev.flotilla.agent.engine.ProgressListener;
import dev.flotilla.agent.models.Downloader.FreeSpace;
import dev.flotilla.agent.process.ModelFiles.ModelUnavailable;
import dev.flotilla.testkit.real.Needs;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ModelStoreTest {
  static final DownloadLimits QUICK =
      new DownloadLimits(
          Duration.ofSeconds(5),
          Duration.ofSeconds(5),
          Duration.ofMillis(300),
          3,
          12,
          Duration.ofMillis(1),
          Duration.ofMillis(5),
          3,
          0,
          Duration.ofSeconds(60),
          Duration.ofSeconds(60));

  private static final byte[] MODEL = model(3_000_000);

  @TempDir Path home;
  private RawHttpServer server;

  @BeforeEach
  void startServer() throws IOException {
    server = new RawHttpServer(file(MODEL, "\"v1\""));
  }

  @AfterEach
  void stopServer() throws IOException {
    server.close();
  }

  @Test
  void aLocalFileIsUsedWhereItLies() throws Exception {
    Path mine = Files.write(home.resolve("mine.gguf"), MODEL);

    assertThat(fetch(mine.toString())).isEqualTo(mine);
    assertThat(home.resolve("models")).doesNotExist();
  }

  @Test
  void aLocalFileThatIsNoModelIsRefusedWithTheReason() throws Exception {
    Path empty = Files.createFile(home.resolve("empty.gguf"));
    Path page = Files.writeString(home.resolve("page.gguf"), "<!DOCTYPE html><html>Sign in");
    Path pointer =
        Files.writeString(home.resolve("lfs.gguf"), "version https://git-lfs.github.com/spec/v1");

    refused(home.resolve("none.gguf").toString(), "does not exist");
    refused(home.toString(), "is not a file");
    refused(empty.toString(), "is empty");
    refused(page.toString(), "is a web page");
    refused(pointer.toString(), "is a Git LFS pointer");
  }

  @Test
  void aFileOfTheWebIsFetchedOnceAndThenUsedWithoutANetwork() throws Exception {
    Path file = fetch(server.at("/big/model.gguf"));
    assertThat(file).hasBinaryContent(MODEL);
    assertThat(file.toString()).startsWith(home.resolve("models/web/127.0.0.1").toString());
    server.close();

    assertThat(fetch(server.at("/big/model.gguf"))).isEqualTo(file);
    assertThat(server.requests).hasSize(1);
    assertThat(file.resolveSibling("model.gguf.part")).doesNotExist();
    assertThat(file.resolveSibling("model.gguf.part.json")).doesNotExist();
  }

  @Test
  void aBrokenConnectionIsResumedWhereItBroke() throws Exception {
    AtomicInteger tries = new AtomicInteger();
    server.answerWith((request, out) -> {
      if (tries.incrementAndGet() < 4) {
        breakingAfter(700_000, MODEL, "\"v1\"").answer(request, out);
      } else {
        file(MODEL, "\"v1\"").answer(request, out);
      }
    });

    assertThat(fetch(server.at("/m.gguf"))).hasBinaryContent(MODEL);
    assertThat(server.requests.subList(1, 4))
        .allSatisfy(request -> {
          assertThat(request.rangeStart()).isPositive();
          assertThat(request.header("if-range")).isEqualTo("\"v1\"");
        });
  }

  @Test
  void aLaterRunGoesOnFromWhatWasKept() throws Exception {
    server.answerWith((request, out) -> {
      if (request.rangeStart() > 0) {
        head(out, "503 Busy", "Content-Length: 0");
      } else {
        breakingAfter(1_000_000, MODEL, "\"v1\"").answer(request, out);
      }
    });
    refused(server.at("/m.gguf"), "bytes are kept; the next try goes on from there");
    server.answerWith(file(MODEL, "\"v1\""));

    assertThat(fetch(server.at("/m.gguf"))).hasBinaryContent(MODEL);
    assertThat(server.requests.getLast().rangeStart()).isPositive();
  }

  @Test
  void aServerThatIgnoresRangesIsReadFromTheStart() throws Exception {
    AtomicInteger tries = new AtomicInteger();
    server.answerWith((request, out) -> {
      head(out, "200 OK", "ETag: \"v1\"", "Content-Length: " + MODEL.length);
      out.write(MODEL, 0, tries.incrementAndGet() == 1 ? 500_000 : MODEL.length);
    });

    assertThat(fetch(server.at("/m.gguf"))).hasBinaryContent(MODEL);
    assertThat(tries).hasValue(2);
  }

  @Test
  void aFileThatChangedMeanwhileIsNotSewnTogether() throws Exception {
    byte[] newer = model(2_000_000);
    newer[1_500_000] = 99;
    AtomicInteger tries = new AtomicInteger();
    server.answerWith((request, out) -> {
      if (tries.incrementAndGet() == 1) {
        breakingAfter(600_000, MODEL, "\"v1\"").answer(request, out);
      } else {
        file(newer, "\"v2\"").answer(request, out);
      }
    });

    assertThat(fetch(server.at("/m.gguf"))).hasBinaryContent(newer);
  }

  @Test
  void aCompletePartOfACrashedRunIsVerifiedAndUsed() throws Exception {
    Path file = fetch(server.at("/m.gguf"));
    Path part = file.resolveSibling("m.gguf.part");
    Files.move(file, part);
    Files.writeString(
        file.resolveSibling("m.gguf.part.json"),
        "{\"source\":\""
            + server.at("/m.gguf")
            + "\",\"validator\":\"\\\"v1\\\"\",\"size\":"
            + MODEL.length
            + "}");

    assertThat(fetch(server.at("/m.gguf"))).hasBinaryContent(MODEL);
    assertThat(server.requests.getLast().rangeStart()).isEqualTo(MODEL.length);
  }

  @Test
  void a416ForAFileThatBecameShorterBeginsAnew() throws Exception {
    byte[] shorter = model(400_000);
    AtomicInteger tries = new AtomicInteger();
    server.answerWith((request, out) -> {
      switch (tries.incrementAndGet()) {
        case 1 -> breakingAfter(600_000, MODEL, "\"v1\"").answer(request, out);
        case 2 -> head(out, "416 No", "Content-Range: bytes */400000", "Content-Length: 0");
        default -> file(shorter, "\"v2\"").answer(request, out);
      }
    });

    assertThat(fetch(server.at("/m.gguf"))).hasBinaryContent(shorter);
    assertThat(server.requests.getLast().header("range")).isEmpty();
  }

  @Test
  void aStalledConnectionIsGivenUpAndResumed() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    AtomicInteger tries = new AtomicInteger();
    server.answerWith((request, out) -> {
      if (tries.incrementAndGet() == 1) {
        breakingAfter(800_000, MODEL, "\"v1\"").answer(request, out);
        over.await();
      } else {
        file(MODEL, "\"v1\"").answer(request, out);
      }
    });

    assertThat(fetch(server.at("/m.gguf"))).hasBinaryContent(MODEL);
    over.countDown();
    assertThat(server.requests.getLast().rangeStart()).isPositive();
  }

  @Test
  void anEmptyBodyIsRefused() throws Exception {
    server.answerWith((request, out) -> head(out, "200 OK", "Content-Length: 0"));

    refused(server.at("/m.gguf"), "is empty at its source: 0 bytes arrived");
    assertThat(server.requests).hasSize(1);
  }

  @Test
  void aBodyThatAlwaysEndsEarlyFailsInTheEnd() throws Exception {
    server.answerWith((request, out) -> {
      head(out, "200 OK", "Content-Length: " + MODEL.length);
      out.write(MODEL, 0, 1000);
    });

    refused(server.at("/m.gguf"), "after 3 tries: ");
  }

  @Test
  void aLoginPageIsNotTakenForAModel() throws Exception {
    byte[] page = "<!doctype html><title>Sign in</title>".getBytes(StandardCharsets.UTF_8);
    server.answerWith(file(page, "\"p\""));

    refused(server.at("/m.gguf"), "is a web page, not a GGUF file");
    assertThat(partsUnder(home)).isEmpty();
  }

  @Test
  void otherBytesAreNotTakenForAModel() throws Exception {
    server.answerWith(file(new byte[] {'P', 'K', 3, 4, 5}, "\"p\""));

    refused(server.at("/m.gguf"), "is not a GGUF file: it begins with the bytes 50 4b 03 04 05");
  }

  @Test
  void aSignatureInAnAddressIsSaidNowhere() throws Exception {
    Path file = fetch(server.at("/m.gguf?signature=geheim"));
    server.answerWith((request, out) -> head(out, "404 Not Found", "Content-Length: 0"));

    assertThat(file.resolveSibling("m.gguf.origin.json")).content().doesNotContain("geheim");
    assertThatThrownBy(() -> fetch(server.at("/other.gguf?signature=geheim")))
        .isInstanceOf(ModelUnavailable.class)
        .message()
        .doesNotContain("geheim");
  }

  @Test
  void whatTheServerRefusesFailsAtOnceWithItsMeaning() throws Exception {
    server.answerWith((request, out) -> head(out, "404 Not Found", "Content-Length: 0"));
    refused(server.at("/m.gguf"), "does not exist (HTTP 404)");
    server.answerWith((request, out) -> head(out, "403 No", "Content-Length: 0"));
    refused(server.at("/m.gguf"), "is not open to us (HTTP 403)");
    assertThat(server.requests).hasSize(2);
  }

  @Test
  void redirectsAreFollowedToALimitAndNeverToAnUnencryptedStranger() throws Exception {
    server.answerWith((request, out) -> {
      if (request.target().equals("/a/m.gguf")) {
        head(out, "302 Found", "Location: ../b/m.gguf", "Content-Length: 0");
      } else {
        file(MODEL, "\"v1\"").answer(request, out);
      }
    });
    assertThat(fetch(server.at("/a/m.gguf"))).hasBinaryContent(MODEL);

    server.answerWith(
        (request, out) -> head(out, "302 Found", "Location: /loop", "Content-Length: 0"));
    refused(server.at("/loop"), "is redirected more than 3 times");
    server.answerWith((request, out) ->
        head(out, "302 Found", "Location: http://example.org/m", "Content-Length: 0"));
    refused(server.at("/away"), "is redirected to an address that is not encrypted");
    server.answerWith((request, out) ->
        head(out, "302 Found", "Location: file:///etc/passwd", "Content-Length: 0"));
    refused(server.at("/file"), "is redirected to an address that names no host");
  }

  @Test
  void huggingFaceSaysSizeAndDigestAndItsTokenStaysThere() throws Exception {
    String commit = "0123456789abcdef0123456789abcdef01234567";
    try (RawHttpServer cdn = new RawHttpServer(file(MODEL, "\"cdn\""))) {
      server.answerWith((request, out) ->
          head(
              out,
              "302 Found",
              "Location: " + cdn.at("/blob?signature=x"),
              "X-Repo-Commit: " + commit,
              "X-Linked-Size: " + MODEL.length,
              "X-Linked-ETag: \"" + sha256(MODEL) + "\"",
              "Content-Length: 0"));

      Path file = fetch("hf:owner/repo/sub/m.gguf", hub());

      assertThat(file).isEqualTo(home.resolve("models/hf/owner/repo/sub/m.gguf"));
      assertThat(file).hasBinaryContent(MODEL);
      assertThat(server.requests)
          .allSatisfy(r -> assertThat(r.header("authorization")).isEqualTo("Bearer hf_secret"));
      assertThat(server.requests.getLast().target())
          .isEqualTo("/owner/repo/resolve/" + commit + "/sub/m.gguf");
      assertThat(cdn.requests)
          .isNotEmpty()
          .allSatisfy(r -> assertThat(r.header("authorization")).isEmpty());
      assertThat(file.resolveSibling("m.gguf.origin.json"))
          .content()
          .contains(commit, sha256(MODEL))
          .doesNotContain("hf_secret", "signature");
    }
  }

  @Test
  void aFolderIsFetchedOnceAllOfOneCommit() throws Exception {
    String commit = "0123456789abcdef0123456789abcdef01234567";
    serveFolder(
        commit,
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "model.gguf",
        "code.py",
        "consolidated.safetensors",
        "onnx/config.json",
        "../x.json");

    Path folder = folder("hf:owner/repo");

    assertThat(folder).isEqualTo(home.resolve("models/hf/owner/repo"));
    assertThat(folder.resolve("model.safetensors")).hasBinaryContent(MODEL);
    assertThat(folder).isDirectoryNotContaining(file -> file.toString().matches(".*(gguf|py)$"));
    assertThat(folder).isDirectoryNotContaining("glob:**consolidated*");
    assertThat(server.requests.getFirst().target())
        .isEqualTo("/api/models/owner/repo/revision/main");
    assertThat(server.requests)
        .filteredOn(
            request -> request.method().equals("GET") && !request.target().startsWith("/api/"))
        .allSatisfy(request ->
            assertThat(request.target()).startsWith("/owner/repo/resolve/" + commit + "/"))
        .hasSize(3);

    server.requests.clear();
    assertThat(folder("hf:owner/repo")).isEqualTo(folder);
    assertThat(server.requests).as("what is here is used without asking").isEmpty();
    Files.delete(folder.resolve("tokenizer.json"));
    folder("hf:owner/repo");
    assertThat(server.requests)
        .filteredOn(request -> request.method().equals("GET"))
        .as("the list, and the file that was missing")
        .hasSize(2);
  }

  @Test
  void aFolderThatNoEngineServesIsSaid() throws Exception {
    serveFolder("0123456789abcdef0123456789abcdef01234567", "model.gguf", "README.md");
    assertThatThrownBy(() -> folder("hf:owner/repo"))
        .isInstanceOf(ModelUnavailable.class)
        .hasMessage(
            "hf:owner/repo is no folder that an engine serves: it has no config.json, or no safetensors.");
    server.answerWith((request, out) -> head(out, "404 Not Found", "Content-Length: 0"));
    assertThatThrownBy(() -> folder("hf:owner/repo"))
        .isInstanceOf(ModelUnavailable.class)
        .hasMessageEndingWith("does not exist (HTTP 404).");
    assertThatThrownBy(() -> folder(server.at("/m.gguf")))
        .isInstanceOf(ModelUnavailable.class)
        .hasMessageStartingWith("This engine reads a model folder; its source is a path or");
    assertThatThrownBy(() -> folder(home.resolve("gone").toString()))
        .isInstanceOf(ModelUnavailable.class)
        .hasMessageEndingWith("gone is none.");
    assertThatThrownBy(() -> fetch("hf:owner/repo", hub()))
        .isInstanceOf(ModelUnavailable.class)
        .hasMessageContaining("names no file, and this engine reads one GGUF file");
  }

  private void serveFolder(String commit, String... files) {
    String listing =
        java.util.Arrays.stream(files)
            .map(file -> "{\"rfilename\":\"" + file + "\"}")
            .collect(
                java.util.stream.Collectors.joining(
                    ",", "{\"sha\":\"" + commit + "\",\"siblings\":[", "]}"));
    server.answerWith((request, out) -> {
      byte[] body =
          request.target().startsWith("/api/")
              ? listing.getBytes(StandardCharsets.UTF_8)
              : request.target().endsWith(".safetensors")
                  ? MODEL
                  : "{}".getBytes(StandardCharsets.UTF_8);
      if (request.method().equals("HEAD")) {
        head(out, "200 OK", "X-Repo-Commit: " + commit, "Content-Length: " + body.length);
      } else {
        file(body, "\"v1\"").answer(request, out);
      }
    });
  }

  private Path folder(String source) throws ModelUnavailable {
    return store(hub(), FreeSpace.ofDisk())
        .fetch(source, ModelForm.FOLDER, ProgressListener.NOBODY);
  }

  @Test
  void aWrongDigestIsSaidWithBothAndTheFileIsDeleted() throws Exception {
    String promised = "0".repeat(64);
    server.answerWith((request, out) -> {
      if (request.method().equals("HEAD")) {
        head(
            out,
            "200 OK",
            "X-Linked-Size: " + MODEL.length,
            "X-Linked-ETag: \"" + promised + "\"",
            "Content-Length: " + MODEL.length);
      } else {
        file(MODEL, "\"v1\"").answer(request, out);
      }
    });

    assertThatThrownBy(() -> fetch("hf:owner/repo/m.gguf", hub()))
        .isInstanceOf(ModelUnavailable.class)
        .hasMessageContainingAll(promised, sha256(MODEL), "was deleted");
    assertThat(partsUnder(home)).isEmpty();
  }

  @Test
  void aSizeThatTheSourceAndTheServerDoNotAgreeOnIsSaidWithBoth() throws Exception {
    server.answerWith((request, out) -> {
      if (request.method().equals("HEAD")) {
        head(out, "200 OK", "X-Linked-Size: 12345", "Content-Length: 12345");
      } else {
        file(MODEL, "\"v1\"").answer(request, out);
      }
    });

    assertThatThrownBy(() -> fetch("hf:owner/repo/m.gguf", hub()))
        .isInstanceOf(ModelUnavailable.class)
        .hasMessageContainingAll("12345", "" + MODEL.length);
  }

  @Test
  void aGatedRepositoryIsExplained() throws Exception {
    server.answerWith((request, out) -> head(out, "401 Unauthorized", "Content-Length: 0"));

    assertThatThrownBy(() -> fetch("hf:owner/repo/m.gguf", hub()))
        .isInstanceOf(ModelUnavailable.class)
        .hasMessageContaining("accept its terms and set HF_TOKEN")
        .message()
        .doesNotContain("hf_secret");
  }

  @Test
  void tooLittleDiskIsSaidBeforeAByteIsWritten() throws Exception {
    ModelStore store = store(Map.of(), path -> 1_000_000);

    assertThatThrownBy(() -> store.fetch(server.at("/m.gguf"), ProgressListener.NOBODY))
        .isInstanceOf(ModelUnavailable.class)
        .hasMessageContaining("GiB of disk")
        .hasMessageContaining("make room, or use another --home");
  }

  @Test
  void aDiskThatFillsUpMeanwhileEndsTheDownloadAndKeepsThePart() throws Exception {
    byte[] big = model(70 << 20);
    server.answerWith(file(big, "\"big\""));
    AtomicLong looks = new AtomicLong();
    ModelStore store = store(Map.of(), path -> looks.incrementAndGet() == 1 ? 1L << 40 : 5);

    assertThatThrownBy(() -> store.fetch(server.at("/m.gguf"), ProgressListener.NOBODY))
        .isInstanceOf(ModelUnavailable.class)
        .hasMessageContaining("of disk at");
    assertThat(partsUnder(home)).hasSize(1);

    assertThat(fetch(server.at("/m.gguf"))).hasSize(big.length);
    assertThat(server.requests.getLast().rangeStart()).isGreaterThanOrEqualTo(64 << 20);
  }

  @Test
  void aFullDiskIsNamedAsWhatItIs() throws Exception {
    Needs.that(Files.exists(Path.of("/dev/full")), "device that is always full: /dev/full");
    Path place = fetch(server.at("/m.gguf"));
    Files.delete(place);
    Files.createSymbolicLink(place.resolveSibling("m.gguf.part"), Path.of("/dev/full"));

    assertThatThrownBy(() -> fetch(server.at("/m.gguf")))
        .isInstanceOf(ModelUnavailable.class)
        .hasMessageContainingAll("No space left on device", "make room and try again");
  }

  @Test
  void aChangedFileIsFetchedAgainAndATouchedOneIsNot() throws Exception {
    Path file = fetch(server.at("/m.gguf"));

    Files.setLastModifiedTime(file, FileTime.fromMillis(1_000_000));
    fetch(server.at("/m.gguf"));
    assertThat(server.requests).as("same bytes, another time").hasSize(1);

    byte[] changed = MODEL.clone();
    changed[12345] ^= 1;
    Files.write(file, changed);
    assertThat(fetch(server.at("/m.gguf"))).hasBinaryContent(MODEL);

    Files.write(file, Arrays.copyOf(MODEL, 10));
    assertThat(fetch(server.at("/m.gguf"))).hasBinaryContent(MODEL);

    Files.delete(file);
    assertThat(fetch(server.at("/m.gguf"))).hasBinaryContent(MODEL);
    assertThat(server.requests).hasSize(4);
  }

  @Test
  void manyWorkersThatWantOneFileShareOneDownload() throws Exception {
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Path>> all = new java.util.ArrayList<>();
      for (int i = 0; i < 8; i++) {
        all.add(threads.submit(() -> fetch(server.at("/m.gguf"))));
      }
      for (Future<Path> one : all) {
        assertThat(one.get()).hasBinaryContent(MODEL);
      }
    }
    assertThat(server.requests).hasSize(1);
  }

  @Test
  void twoProcessesOnOneHomeShareOneDownload() throws Exception {
    CountDownLatch go = new CountDownLatch(1);
    server.answerWith((request, out) -> {
      head(out, "200 OK", "ETag: \"v1\"", "Content-Length: " + MODEL.length);
      out.write(MODEL, 0, 1000);
      go.await();
      out.write(MODEL, 1000, MODEL.length - 1000);
    });
    Process other =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                FetchMain.class.getName(),
                home.resolve("models").toString(),
                server.at("/m.gguf"))
            .redirectErrorStream(true)
            .start();
    try {
      await().atMost(Duration.ofSeconds(60)).until(() -> !server.requests.isEmpty());
      CountDownLatch waits = new CountDownLatch(1);
      ProgressListener listener =
          (subject, step, done, total, finished) -> {
            if (step.startsWith("another agent")) {
              waits.countDown();
            }
          };
      try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
        Future<Path> mine =
            threads.submit(
                () -> store(Map.of(), FreeSpace.ofDisk()).fetch(server.at("/m.gguf"), listener));
        waits.await();
        go.countDown();
        assertThat(mine.get()).hasBinaryContent(MODEL);
      }
      String said = new String(other.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(other.waitFor()).as(said).isZero();
      assertThat(server.requests).hasSize(1);
    } finally {
      go.countDown();
      other.destroyForcibly();
    }
  }

  @Test
  void anInterruptEndsTheWaitAndKeepsWhatArrived() throws Exception {
    CountDownLatch arrived = new CountDownLatch(1);
    CountDownLatch over = new CountDownLatch(1);
    server.answerWith((request, out) -> {
      breakingAfter(500_000, MODEL, "\"v1\"").answer(request, out);
      over.await();
    });
    ConcurrentLinkedQueue<String> said = new ConcurrentLinkedQueue<>();
    DownloadLimits patient =
        new DownloadLimits(
            QUICK.connect(),
            QUICK.headers(),
            Duration.ofMinutes(5),
            3,
            3,
            QUICK.firstPause(),
            QUICK.longestPause(),
            3,
            0,
            QUICK.othersWait(),
            QUICK.pip());
    ModelStore store = new ModelStore(home.resolve("models"), Map.of(), patient);
    Thread thread =
        Thread.ofVirtual()
            .start(() -> {
              try {
                store.fetch(
                    server.at("/m.gguf"),
                    (subject, step, done, total, finished) -> {
                      if (step.equals("downloading")) {
                        arrived.countDown();
                      }
                    });
              } catch (ModelUnavailable e) {
                said.add(String.valueOf(e.getMessage()));
              }
            });
    arrived.await();
    thread.interrupt();
    thread.join();
    over.countDown();

    assertThat(said).singleElement().asString().contains("was stopped; what arrived is kept");
  }

  @Test
  void whereNothingAnswersProxyAndMirrorAreNamed() throws IOException {
    Map<String, String> nobody = hub();
    String address = server.at("/m.gguf");
    server.close();
    String proxy =
        " Is there a network? Behind a proxy start with"
            + " FLOTILLA_JAVA_OPTS='-Dhttps.proxyHost=HOST -Dhttps.proxyPort=PORT'";

    assertThatThrownBy(() -> fetch(address))
        .isInstanceOf(ModelUnavailable.class)
        .hasMessageContaining("after 3 tries: nothing answers there." + proxy)
        .hasMessageEndingWith("'.");
    assertThatThrownBy(() -> fetch("hf:owner/repo/m.gguf", nobody))
        .isInstanceOf(ModelUnavailable.class)
        .hasMessageContaining(proxy)
        .hasMessageEndingWith("; HF_ENDPOINT names a mirror of Hugging Face.");
  }

  @Test
  void progressIsSaidSeldomAndHasALastWord() throws Exception {
    ConcurrentLinkedQueue<String> steps = new ConcurrentLinkedQueue<>();
    store(Map.of(), FreeSpace.ofDisk())
        .fetch(
            server.at("/m.gguf"),
            (subject, step, done, total, finished) ->
                steps.add(step + " " + done + "/" + total + (finished ? " finished" : "")));

    assertThat(steps.peek()).isEqualTo("downloading 0/3000000");
    assertThat(steps).last().isEqualTo("ready 3000000/3000000 finished");
    assertThat(steps).hasSizeLessThan(30);
  }

  private Map<String, String> hub() {
    return Map.of("HF_ENDPOINT", server.at("/"), "HF_TOKEN", "hf_secret");
  }

  private void refused(String source, String why) {
    assertThatThrownBy(() -> fetch(source))
        .isInstanceOf(ModelUnavailable.class)
        .hasMessageContaining(why);
  }

  private Path fetch(String source) throws ModelUnavailable {
    return fetch(source, Map.of());
  }

  private Path fetch(String source, Map<String, String> environment) throws ModelUnavailable {
    return store(environment, FreeSpace.ofDisk()).fetch(source, ProgressListener.NOBODY);
  }

  private ModelStore store(Map<String, String> environment, FreeSpace disk) {
    return new ModelStore(home.resolve("models"), environment, QUICK, List.of("no-such-pip"), disk);
  }

  private static List<Path> partsUnder(Path folder) throws IOException {
    try (var all = Files.walk(folder)) {
      return all.filter(file -> file.toString().endsWith(".part")).toList();
    }
  }

  static byte[] model(int size) {
    byte[] bytes = new byte[size];
    new java.util.Random(7).nextBytes(bytes);
    System.arraycopy("GGUF".getBytes(StandardCharsets.US_ASCII), 0, bytes, 0, 4);
    return bytes;
  }

  static String sha256(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (java.security.NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }
}
