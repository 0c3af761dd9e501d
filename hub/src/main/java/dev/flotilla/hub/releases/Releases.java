package dev.flotilla.hub.releases;

import dev.flotilla.hub.store.Journal;
import dev.flotilla.wire.files.OwnerOnly;
import dev.flotilla.wire.lanes.ControlMessage.Severity;
import dev.flotilla.wire.lanes.ControlMessage.UpdateOffered;
import dev.flotilla.wire.release.Release;
import dev.flotilla.wire.release.ReleaseVersion;
import dev.flotilla.wire.text.Names;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.stream.Stream;
import java.util.zip.ZipException;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * The releases in {@code HOME/hub/releases}: each a file, and beside it what is known of it.
 *
 * <p><b>Invariants.</b> A release is there when its {@code .json} is, which is written last and
 * removed first, in one step each; what lies there otherwise is of a transfer that was cut and is
 * removed at the next start. The newest version is the one that is offered. The hub does not know
 * whose signature it is: that is for each agent's policy to say.
 *
 * <p><b>Concurrency.</b> One transfer at a time; the list is replaced whole, so reading it needs no
 * lock. A file that is being read while it is removed is read to its end.
 */
public final class Releases {
  private static final JsonMapper JSON =
      JsonMapper.builder()
          .enable(
              DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES,
              DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
          .build();
  private static final System.Logger LOG = System.getLogger(Releases.class.getName());
  private static final int BUFFER_BYTES = 64 << 10;
  private static final String NOTE = ".json";

  private static final Comparator<StoredRelease> NEWEST_FIRST =
      (one, other) -> ReleaseVersion.compare(other.version(), one.version());

  /** What was sent is no release, or not one that is taken. */
  public static final class Rejected extends Exception {
    private static final long serialVersionUID = 1L;

    private final boolean conflict;

    Rejected(String why, boolean conflict) {
      super(why);
      this.conflict = conflict;
    }

    /** Whether what is stored already is in the way. */
    public boolean isConflict() {
      return conflict;
    }
  }

  private final Path folder;
  private final Journal journal;
  private final InstantSource clock;
  private final ReleaseLimits limits;
  private final ReentrantLock changing = new ReentrantLock();
  private volatile List<StoredRelease> all = List.of();
  private volatile Consumer<Optional<UpdateOffered>> follower = _ -> {};

  public Releases(Path home, Journal journal, InstantSource clock, ReleaseLimits limits) {
    this.folder = home.resolve("hub").resolve("releases");
    this.journal = journal;
    this.clock = clock;
    this.limits = limits;
  }

  /**
   * Reads what is there, and tells {@code follower} what is offered, now and at each change.
   *
   * @throws IOException where the folder can't be read
   */
  public void start(Consumer<Optional<UpdateOffered>> offered) throws IOException {
    follower = offered;
    Files.createDirectories(folder, OwnerOnly.folder());
    List<StoredRelease> found = new ArrayList<>();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.toList()) {
        String name = String.valueOf(file.getFileName());
        if (name.endsWith(NOTE)) {
          read(file).ifPresent(found::add);
        }
      }
    }
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.toList()) {
        String name = String.valueOf(file.getFileName());
        if (found.stream().noneMatch(kept -> name.startsWith(Release.fileName(kept.version())))) {
          Files.deleteIfExists(file);
        }
      }
    }
    publish(found);
  }

  /** Every release, the newest version first. */
  public List<StoredRelease> all() {
    return all;
  }

  /** The file of a release that is here. */
  public Optional<Path> file(String version) {
    return find(version).map(release -> folder.resolve(Release.fileName(release.version())));
  }

  public Optional<StoredRelease> find(String version) {
    return all.stream().filter(release -> release.version().equals(version)).findFirst();
  }

  /**
   * Takes a release in, and offers it; the sentence says what came of it.
   *
   * @param again whether agents where it failed shall take it again
   * @throws Rejected where it is none, or another one has its name
   * @throws IOException where it can't be kept, or the sender broke off
   */
  public String add(Release release, InputStream body, boolean again, String by)
      throws Rejected, IOException {
    Optional<String> problem = release.problem();
    if (problem.isPresent()) {
      throw new Rejected(problem.get(), false);
    }
    changing.lock();
    try {
      Optional<StoredRelease> known = find(release.version());
      if (known.isPresent()) {
        checkSame(known.get(), release);
      }
      receive(release, body);
      if (known.isPresent() && !again) {
        return "version " + release.version() + " is here already; --again offers it anew";
      }
      long attempt = known.map(StoredRelease::attempt).orElse(0L) + 1;
      keep(
          new StoredRelease(
              release.version(),
              release.bytes(),
              release.sha256(),
              release.signature(),
              attempt,
              clock.instant(),
              by));
      return offered(release.version(), by);
    } finally {
      changing.unlock();
    }
  }

  /** Agents were told of a release by its digest and signature: neither changes under its name. */
  private static void checkSame(StoredRelease known, Release release) throws Rejected {
    boolean sameFile = known.sha256().equals(release.sha256());
    if (sameFile && known.signature().equals(release.signature())) {
      return;
    }
    throw new Rejected(
        (sameFile ? "the same file is stored with another signature" : "another file is stored")
            + " as version "
            + release.version()
            + ": withdraw it first ('flotilla update withdraw "
            + release.version()
            + "'), or give this one another version",
        true);
  }

  private String offered(String version, String by) {
    boolean newest = all.getFirst().version().equals(version);
    String sentence =
        newest
            ? "version "
                + version
                + " is offered to agents that are older, one node after the other"
            : "version "
                + version
                + " is kept; what is offered is the newest, "
                + all.getFirst().version();
    journal.event(Severity.INFO, "release-offered", version, "By " + by + ": " + sentence + ".");
    return sentence;
  }

  /** Takes a release back; false where there is none. What agents run already they keep. */
  public boolean remove(String version, String by) throws IOException {
    changing.lock();
    try {
      if (find(version).isEmpty()) {
        return false;
      }
      drop(version);
      publish(all.stream().filter(kept -> !kept.version().equals(version)).toList());
      journal.event(
          Severity.INFO,
          "release-withdrawn",
          version,
          "Version " + version + " was withdrawn by " + by + ": it is offered to nobody any more.");
      return true;
    } finally {
      changing.unlock();
    }
  }

  private void receive(Release release, InputStream body) throws Rejected, IOException {
    long free = Files.getFileStore(folder).getUsableSpace();
    if (free < release.bytes() + limits.diskReserveBytes()) {
      throw new IOException(
          "the hub's disk at %s has %d MiB free, and %d MiB have to stay free"
              .formatted(folder, free >> 20, limits.diskReserveBytes() >> 20));
    }
    Path incoming = folder.resolve("incoming");
    try {
      String digest = copy(body, incoming, release.bytes());
      if (!digest.equals(release.sha256())) {
        throw new Rejected(
            "the file has SHA-256 " + digest + ", and its release says " + release.sha256(), false);
      }
      String own = versionIn(incoming);
      if (!own.equals(release.version())) {
        throw new Rejected(
            "the archive calls itself version "
                + Names.shown(own)
                + ", and its release says "
                + release.version(),
            false);
      }
      Files.move(
          incoming,
          folder.resolve(Release.fileName(release.version())),
          StandardCopyOption.ATOMIC_MOVE,
          StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(incoming);
    }
  }

  private static String versionIn(Path archive) throws Rejected, IOException {
    try {
      return Release.versionIn(archive);
    } catch (ZipException e) {
      throw new Rejected("the file is no release's archive: " + e.getMessage(), false);
    }
  }

  /** The digest of what was written. */
  private static String copy(InputStream body, Path file, long bytes) throws Rejected, IOException {
    MessageDigest digest = sha256();
    long length = 0;
    try (FileChannel channel =
            FileChannel.open(
                file,
                StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING,
                StandardOpenOption.WRITE);
        OutputStream out = Channels.newOutputStream(channel)) {
      byte[] buffer = new byte[BUFFER_BYTES];
      for (int count; (count = body.read(buffer)) >= 0; ) {
        length += count;
        if (length > bytes) {
          break;
        }
        out.write(buffer, 0, count);
        digest.update(buffer, 0, count);
      }
      channel.force(true);
    }
    if (length != bytes) {
      throw new Rejected(
          length > bytes
              ? "the file has more than the " + bytes + " bytes that its release says"
              : "the file has " + length + " bytes, and its release says " + bytes,
          false);
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  private void keep(StoredRelease release) throws IOException {
    Path note = folder.resolve(Release.fileName(release.version()) + NOTE);
    Path fresh = folder.resolve("incoming" + NOTE);
    Files.write(fresh, JSON.writeValueAsBytes(release));
    Files.move(fresh, note, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    List<StoredRelease> next = new ArrayList<>(all);
    next.removeIf(kept -> kept.version().equals(release.version()));
    next.add(release);
    next.sort(NEWEST_FIRST);
    while (next.size() > limits.kept()) {
      drop(next.removeLast().version());
    }
    publish(next);
  }

  private void drop(String version) throws IOException {
    Files.deleteIfExists(folder.resolve(Release.fileName(version) + NOTE));
    Files.deleteIfExists(folder.resolve(Release.fileName(version)));
  }

  private Optional<StoredRelease> read(Path note) {
    try {
      StoredRelease kept = JSON.readValue(Files.readAllBytes(note), StoredRelease.class);
      boolean whole =
          kept.release().problem().isEmpty()
              && note.endsWith(Release.fileName(kept.version()) + NOTE)
              && Files.size(folder.resolve(Release.fileName(kept.version()))) == kept.bytes();
      if (whole) {
        return Optional.of(kept);
      }
      LOG.log(System.Logger.Level.WARNING, "{0} is not of a release that is here", note);
    } catch (IOException | JacksonException e) {
      LOG.log(System.Logger.Level.WARNING, "{0} can''t be used: {1}", note, e.toString());
    }
    return Optional.empty();
  }

  private void publish(List<StoredRelease> next) {
    all = next.stream().sorted(NEWEST_FIRST).toList();
    follower.accept(
        all.stream()
            .findFirst()
            .map(newest -> new UpdateOffered(newest.release(), newest.attempt())));
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
