package dev.flotilla.agent.update;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.agent.engine.ProgressListener;
import dev.flotilla.agent.lanes.ReleaseSource;
import dev.flotilla.agent.update.Versions.Failure;
import dev.flotilla.wire.lanes.ControlMessage.UpdateOffered;
import dev.flotilla.wire.lanes.ControlMessage.UpdateStep;
import dev.flotilla.wire.lanes.ControlMessage.UpdateStep.Stage;
import dev.flotilla.wire.release.Release;
import dev.flotilla.wire.release.ReleaseKey;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An agent of version 0.1.0 that is offered others. */
class UpdaterTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final UpdateLimits QUICK =
      new UpdateLimits(8 << 20, 16, Duration.ofSeconds(5), 3, Duration.ofMillis(1), 1 << 20);

  @TempDir Path home;
  private final List<UpdateStep> said = new CopyOnWriteArrayList<>();
  private final List<Long> asked = new CopyOnWriteArrayList<>();
  private byte[] file = new byte[0];
  private Release release = new Release("", 0, "", "");

  /** Bytes that the hub sends before the connection breaks. */
  private int breaksAfter = Integer.MAX_VALUE;

  private long freeBytes = 1L << 40;

  // Made before each test, in its home.
  @SuppressWarnings("NullAway.Init")
  private Updater updater;

  @BeforeEach
  void makeRelease() throws Exception {
    updater = updater("0.1.0", Archives.PAIR.key());
    file = Archives.zip(Archives.contents("0.2.0"));
    release = Archives.release("0.2.0", file);
  }

  @AfterEach
  void stop() {
    updater.close();
  }

  @Test
  void aSignedVersionIsFetchedUnpackedAndTakesOverWhenTheHubSaysSo() throws Exception {
    updater.offered(offer(1));
    assertThat(outcome().stage()).as("%s", said).isEqualTo(Stage.READY);
    assertThat(said).extracting(UpdateStep::stage).containsExactly(Stage.FETCHING, Stage.READY);
    assertThat(versions("0.2.0/flotilla")).isExecutable();
    assertThat(updater.replaced()).isNotDone();

    updater.now("0.2.0");
    assertThat(updater.replaced().join().isReplacement()).isTrue();
    assertThat(Files.readString(versions("next"))).isEqualTo("0.2.0 1\n");
  }

  @Test
  void whatTheHubWantsNowMustBeReady() {
    updater.now("0.2.0");
    updater.now("../../etc");
    assertThat(updater.replaced()).isNotDone();
    assertThat(home).isEmptyDirectory();
  }

  @Test
  void aBrokenConnectionGoesOnWhereItEnded() throws Exception {
    breaksAfter = file.length / 2 - 1;
    updater.offered(offer(1));
    assertThat(outcome().stage()).isEqualTo(Stage.READY);
    assertThat(asked).hasSize(3).startsWith(0L, (long) breaksAfter);
  }

  @Test
  void aFileThatIsNotTheSignedOneIsDeletedBeforeItIsOpened() throws Exception {
    file = file.clone();
    file[file.length / 2] ^= 1;
    updater.offered(offer(1));

    assertThat(outcome().stage()).isEqualTo(Stage.FAILED);
    assertThat(outcome().reason()).contains("what arrived has SHA-256 ", "was signed");
    assertThat(versions("0.2.0")).doesNotExist();
    assertThat(versions("fetch")).isEmptyDirectory();
  }

  @Test
  void moreThanTheSignedSizeIsNotTaken() throws Exception {
    file = Arrays.copyOf(file, file.length + (1 << 20));
    updater.offered(offer(1));
    assertThat(outcome().reason()).contains("more than the signed " + release.bytes() + " bytes");
    assertThat(versions("fetch")).isEmptyDirectory();
  }

  @Test
  void aHubThatSendsNothingIsAskedSoOftenAndNoMore() throws Exception {
    breaksAfter = 0;
    updater.offered(offer(1));
    assertThat(outcome().reason())
        .contains("it could not be fetched in 3 tries, 0 of " + release.bytes());
    assertThat(asked).hasSize(3);
  }

  @Test
  void whoSignedItDecidesBeforeAByteIsFetched() throws Exception {
    release = Archives.release("0.2.0", file, ReleaseKey.generate());
    declined("its signature is by none of the keys that the policy names");

    Release good = Archives.release("0.2.0", file);
    release = new Release("0.3.0", good.bytes(), good.sha256(), good.signature());
    declined("its signature is by none of the keys that the policy names");
    assertThat(asked).isEmpty();
  }

  @Test
  void withoutAKeyOrALauncherItNeverUpdatesItselfAndSaysSo() throws Exception {
    updater = updater("0.1.0");
    declined("its policy names no key for updates, so it never updates itself");

    updater = updater(new UpdateRules(Path.of("p"), List.of(Archives.PAIR.key()), false), "0.1.0");
    declined("it does not run under the launcher");
  }

  @Test
  void anOldReleaseCanNotBeBroughtBack() throws Exception {
    updater = updater("0.2.0+5.gabc", Archives.PAIR.key());
    declined("it is not newer than what runs, 0.2.0+5.gabc");
  }

  @Test
  void anOfferThatIsBrokenIsDeclinedWhateverItNames() throws Exception {
    for (Release broken :
        List.of(
            new Release("../../x", 1, "00".repeat(32), release.signature()),
            new Release("0.2.0", 1L << 40, "00".repeat(32), release.signature()),
            new Release("0.2.0", 1, "../", release.signature()),
            new Release("0.2.0", 1, "00".repeat(32), ""))) {
      release = broken;
      declined("the offer is broken: ");
    }
    assertThat(home).isEmptyDirectory();
  }

  @Test
  void aFullDiskIsSeenBeforeAnythingIsWritten() throws Exception {
    freeBytes = 100;
    updater.offered(offer(1));
    assertThat(outcome().stage()).isEqualTo(Stage.FAILED);
    assertThat(outcome().reason())
        .contains("MiB of disk at " + home.resolve("versions"), "are free");
    assertThat(asked).isEmpty();

    freeBytes = 1L << 40;
    updater.offered(offer(2));
    assertThat(outcome().stage()).isEqualTo(Stage.READY);
  }

  @Test
  void aDiskThatFillsUpWhileItIsUnpackedLeavesTheAgentAsItIs() throws Exception {
    Map<String, byte[]> contents = Archives.contents("0.2.0");
    contents.put("lib/large.jar", new byte[4 << 20]);
    file = Archives.zip(contents);
    release = Archives.release("0.2.0", file);
    freeBytes = QUICK.diskReserveBytes() + release.bytes();

    updater.offered(offer(1));
    assertThat(outcome().stage()).isEqualTo(Stage.FAILED);
    assertThat(outcome().reason()).contains("it needs 4 MiB of disk");
    assertThat(versions("0.2.0")).doesNotExist();

    freeBytes = 1L << 40;
    updater.offered(offer(2));
    assertThat(outcome().stage()).isEqualTo(Stage.READY);
    assertThat(asked).as("what was fetched is kept").containsExactly(0L);
  }

  @Test
  void whatCanNotBeWrittenIsSaid() throws Exception {
    Files.createDirectories(home.resolve("versions"));
    Files.writeString(versions("fetch"), "a file, where a folder belongs");
    updater.offered(offer(1));
    assertThat(outcome().reason()).startsWith("it can't be kept in " + home.resolve("versions"));
  }

  /** As a process leaves it that is killed while it fetches, and while it unpacks. */
  @Test
  void whatAKilledAgentLeftIsGoneOnWith() throws Exception {
    Versions versions = new Versions(home);
    Files.write(versions.part(release), Arrays.copyOf(file, 400));
    Files.writeString(
        Files.createDirectories(versions("fetch/unpacking/lib")).resolve("flotilla-cli.jar"), "ha");

    updater.offered(offer(1));

    assertThat(outcome().stage()).isEqualTo(Stage.READY);
    assertThat(asked).containsExactly(400L);
    assertThat(versions("0.2.0/lib/flotilla-cli.jar")).hasSize(300_000);
  }

  @Test
  void afterALostSessionTheVersionIsReadyAtOnceAndNotTakenUntilOfferedAnew() throws Exception {
    updater.offered(offer(1));
    assertThat(outcome().stage()).isEqualTo(Stage.READY);
    updater.parted();
    updater.now("0.2.0");
    assertThat(updater.replaced()).as("what was arranged went with the session").isNotDone();

    said.clear();
    updater.offered(offer(1));
    assertThat(outcome().stage()).isEqualTo(Stage.READY);
    assertThat(asked).as("it is unpacked already").containsExactly(0L);
  }

  @Test
  void anotherFileUnderTheSameNameTakesItsPlace() throws Exception {
    updater.offered(offer(1));
    outcome();
    Map<String, byte[]> contents = Archives.contents("0.2.0");
    contents.put("lib/more.jar", new byte[10]);
    file = Archives.zip(contents);
    release = Archives.release("0.2.0", file);

    said.clear();
    updater.offered(offer(2));

    assertThat(outcome().stage()).isEqualTo(Stage.READY);
    assertThat(versions("0.2.0/lib/more.jar")).exists();
  }

  @Test
  void aVersionThatFailedIsToldOnceAndTakenAgainOnlyWhenOfferedAgain() throws Exception {
    new Versions(home).keep(new Failure("0.2.0", 1, "it ended with code 3", false));

    updater.welcomed();
    updater.welcomed();
    assertThat(said)
        .containsExactly(new UpdateStep("0.2.0", 1, Stage.FAILED, "it ended with code 3"));
    updater.close();
    updater = updater("0.1.0", Archives.PAIR.key());
    updater.welcomed();
    assertThat(said).as("also by the next start").hasSize(1);

    declined("it failed here before: it ended with code 3");
    said.clear();
    updater.offered(offer(2));
    assertThat(outcome().stage()).isEqualTo(Stage.READY);
    updater.now("0.2.0");
    assertThat(Files.readString(versions("next"))).isEqualTo("0.2.0 2\n");
    assertThat(versions("failed/0.2.0")).doesNotExist();
  }

  @Test
  void aNewVersionSaysToItsLauncherThatTheHubTookItInAndKeepsTheOneBefore() throws Exception {
    for (String version : List.of("0.0.7", "0.0.8", "0.2.0")) {
      Files.createDirectories(versions(version).resolve("lib"));
    }
    Files.writeString(versions("before"), "0.0.8\n4711\n");
    updater = updater("0.2.0", Archives.PAIR.key());

    updater.welcomed();

    assertThat(Files.readString(versions("accepted"))).isEqualTo("0.2.0\n");
    assertThat(versions("0.0.8")).exists();
    assertThat(versions("0.2.0")).exists();
    assertThat(versions("0.0.7")).doesNotExist();
  }

  @Test
  void aVersionThatIsNotOnTrialSaysNothing() throws Exception {
    updater.welcomed();
    assertThat(home).isEmptyDirectory();
  }

  /** The hub is silent in the middle of the file; the agent has to end now. */
  @Test
  void anAgentThatEndsDoesNotWaitForARelease() throws Exception {
    CountDownLatch reading = new CountDownLatch(1);
    CountDownLatch never = new CountDownLatch(1);
    updater.close();
    updater =
        updater(
            new UpdateRules(Path.of("p"), List.of(Archives.PAIR.key()), true),
            "0.1.0",
            (version, from, silence) -> {
              reading.countDown();
              try {
                never.await();
              } catch (InterruptedException e) {
                // As a socket does that a virtual thread reads.
                Thread.currentThread().interrupt();
                throw new IOException("Closed by interrupt", e);
              }
              throw new AssertionError();
            });
    updater.offered(offer(1));
    reading.await();
    updater.close();
    assertThat(said).extracting(UpdateStep::stage).containsExactly(Stage.FETCHING);
  }

  private void declined(String reason) {
    said.clear();
    updater.offered(offer(1));
    assertThat(said)
        .singleElement()
        .satisfies(step -> assertThat(step.stage()).isEqualTo(Stage.DECLINED))
        .satisfies(step -> assertThat(step.reason()).contains(reason));
    assertThat(updater.replaced()).isNotDone();
  }

  private UpdateOffered offer(long attempt) {
    return new UpdateOffered(release, attempt);
  }

  private UpdateStep outcome() {
    await().atMost(SOON).until(() -> !said.isEmpty() && said.getLast().stage() != Stage.FETCHING);
    return said.getLast();
  }

  private Path versions(String name) {
    return home.resolve("versions").resolve(name);
  }

  private Updater updater(String running, ReleaseKey... keys) {
    return updater(new UpdateRules(Path.of("policy.yaml"), List.of(keys), true), running);
  }

  private Updater updater(UpdateRules rules, String running) {
    return updater(rules, running, this::open);
  }

  private Updater updater(UpdateRules rules, String running, ReleaseFetch.Source source) {
    return new Updater(
        running,
        rules,
        new Versions(home),
        new ReleaseFetch(source, QUICK, ProgressListener.NOBODY),
        QUICK,
        folder -> freeBytes,
        said::add);
  }

  /** The hub, whose connections may break. */
  private ReleaseSource.Opened open(String version, long from, Duration silence) {
    asked.add(from);
    int end = (int) Math.min(file.length, from + breaksAfter);
    InputStream body = new ByteArrayInputStream(file, (int) from, end - (int) from);
    return new ReleaseSource.Opened(from, body, () -> {});
  }
}
