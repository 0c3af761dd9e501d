package dev.flotilla.agent.models;

import dev.flotilla.agent.models.Downloader.Fetched;
import dev.flotilla.agent.models.ModelSource.HuggingFace;
import dev.flotilla.agent.models.ModelSource.HuggingFaceFolder;
import dev.flotilla.agent.models.StoredFile.Origin;
import dev.flotilla.agent.process.ModelFiles.ModelUnavailable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Whole Hugging Face repositories as folders of the store, {@code hf/OWNER/REPO}: the files that
 * engines read, and no code, no other engines' weights, nothing of folders in it.
 *
 * <p>Invariants: all files are of one commit, the newest when the folder was first wanted; {@code
 * .folder.json} is written when the last of them is there and names them all. A folder with that
 * record whose files are what they were is used without asking anybody. Whoever fetches holds the
 * record's {@link FileTurn}.
 */
final class ModelFolders {
  private static final int FILES_MAX = 1000;

  /** Weights, configuration, tokenizer, template. */
  private static final Pattern READ =
      Pattern.compile(
          "[A-Za-z0-9_][A-Za-z0-9._+@-]*\\.(?:safetensors|json|txt|model|jinja|tiktoken)");

  /** Mistral's weights once more, in the form of its own engine. */
  private static final String CONSOLIDATED = "consolidated";

  private final Path folder;
  private final DownloadLimits limits;
  private final Downloader downloader;
  private final HuggingFaceFiles huggingFace;

  ModelFolders(
      Path folder, DownloadLimits limits, Downloader downloader, HuggingFaceFiles huggingFace) {
    this.folder = folder;
    this.limits = limits;
    this.downloader = downloader;
    this.huggingFace = huggingFace;
  }

  /** What a whole folder consists of. */
  private record Whole(String commit, List<String> files) {}

  /** A folder of this machine's own. */
  static Path checked(Path folder) throws ModelUnavailable {
    if (!Files.isDirectory(folder)) {
      throw new ModelUnavailable(
          "This engine reads a model folder as Hugging Face has it, and %s is none."
              .formatted(folder));
    }
    if (!Files.isReadable(folder)) {
      throw new ModelUnavailable("The model folder " + folder + " may not be read by this user.");
    }
    return folder;
  }

  Path fetch(String source, HuggingFaceFolder remote, Steps steps)
      throws DownloadFailed, IOException, InterruptedException {
    Path place = folder.resolve("hf").resolve(remote.owner()).resolve(remote.repo());
    Path record = place.resolve(".folder.json");
    FileTurn.Waiting waiting = () -> steps.at("another agent is fetching it", 0, -1);
    try (FileTurn turn = FileTurn.take(record, limits.othersWait(), waiting)) {
      turn.require();
      if (!isWhole(place, record, steps)) {
        steps.at("looking it up", 0, -1);
        HuggingFaceFiles.Listing listing = huggingFace.list(source, remote);
        List<String> files = wanted(source, listing);
        for (String file : files) {
          fetch(source, remote, listing.commit(), place.resolve(file), steps);
        }
        Path fresh = place.resolve(".folder.json.new");
        Files.write(
            fresh, JsonMapper.shared().writeValueAsBytes(new Whole(listing.commit(), files)));
        Files.move(
            fresh, record, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      }
      steps.finished("ready", bytes(place));
      return place;
    }
  }

  private static boolean isWhole(Path place, Path record, Steps steps)
      throws IOException, InterruptedException {
    if (!Files.exists(record)) {
      return false;
    }
    try {
      for (String file :
          JsonMapper.shared().readValue(Files.readAllBytes(record), Whole.class).files()) {
        if (StoredFile.find(place.resolve(file), steps).isEmpty()) {
          return false;
        }
      }
      return true;
    } catch (JacksonException e) {
      return false;
    }
  }

  private static List<String> wanted(String source, HuggingFaceFiles.Listing listing)
      throws DownloadFailed {
    List<String> files =
        listing.files().stream()
            .filter(name -> READ.matcher(name).matches() && !name.startsWith(CONSOLIDATED))
            .filter(name -> !name.contains("..") && !name.endsWith(".origin.json"))
            .sorted()
            .toList();
    if (!files.contains("config.json")
        || files.stream().noneMatch(name -> name.endsWith(".safetensors"))) {
      throw new DownloadFailed(
          source
              + " is no folder that an engine serves: it has no config.json, or no safetensors.");
    }
    if (files.size() > FILES_MAX) {
      throw new DownloadFailed(
          "%s has %d files; at most %d are fetched.".formatted(source, files.size(), FILES_MAX));
    }
    return files;
  }

  private void fetch(String source, HuggingFaceFolder remote, String commit, Path file, Steps steps)
      throws DownloadFailed, IOException, InterruptedException {
    if (StoredFile.find(file, steps)
        .filter(found -> found.origin().commit().equals(commit))
        .isPresent()) {
      return;
    }
    String name = String.valueOf(file.getFileName());
    Path part = file.resolveSibling(name + ".part");
    HuggingFace one = new HuggingFace(remote.owner(), remote.repo(), List.of(name));
    String shown = source + "/" + name;
    HuggingFaceFiles.Found found = huggingFace.find(shown, one, commit, part);
    Fetched fetched = downloader.fetch(found.order(), steps);
    StoredFile.land(
        part,
        file,
        new Origin(
            shown,
            WebAddress.shown(found.order().address()),
            fetched.size(),
            fetched.sha256(),
            0,
            commit));
  }

  private static long bytes(Path place) throws IOException {
    long sum = 0;
    try (var files = Files.newDirectoryStream(place, Files::isRegularFile)) {
      for (Path file : files) {
        sum += Files.size(file);
      }
    }
    return sum;
  }
}
