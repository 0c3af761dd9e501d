package dev.flotilla.hub.spec;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.hub.spec.FleetFile.Reading;
import dev.flotilla.hub.spec.FleetSpec.Backend;
import dev.flotilla.hub.spec.FleetSpec.Destination;
import dev.flotilla.hub.spec.FleetSpec.Limits;
import dev.flotilla.hub.spec.FleetSpec.Model;
import dev.flotilla.hub.spec.FleetSpec.Promise;
import dev.flotilla.hub.spec.FleetSpec.Recipe;
import dev.flotilla.hub.spec.FleetSpec.Route;
import dev.flotilla.hub.spec.FleetSpec.When;
import dev.flotilla.shape.dialect.Sampling;
import dev.flotilla.wire.fleet.WorkerSpec.Chat;
import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What holds for every spec and for every text, tried on many of both from fixed seeds. */
class FleetFilePropertyTest {

  private static final List<String> TEXTS =
      List.of(
          "x",
          "true",
          "null",
          "No",
          "on",
          "1e5",
          "0x1f",
          "012",
          "a b",
          "a: b",
          "a #b",
          "- a",
          "\"quoted\"",
          "back\\slash",
          "ünï",
          "😀",
          "{a}",
          "[a]",
          "&a",
          "*a",
          "!a",
          "%a",
          "@a",
          "`a`",
          "a,b",
          "?",
          "~",
          "-1",
          "1.5",
          "yes",
          "trailing:",
          "|",
          ">",
          "<<",
          "=",
          "{\"json\": [1]}");

  @Test
  void whatIsWrittenIsReadAsTheSame() {
    for (int seed = 0; seed < 2_000; seed++) {
      FleetSpec spec = new Specs(new Random(seed)).spec();
      String yaml = FleetFile.write(spec);
      assertThat(FleetFile.read(yaml, "f"))
          .as("seed %d:%n%s", seed, yaml)
          .isEqualTo(new Reading.Good(spec));
      assertThat(SpecDifference.between(spec, spec)).isEmpty();
    }
  }

  @Test
  void noMutationOfAFileMakesAnythingButAReading() {
    String alphabet = " \n\t:-#{}[]\"'&*!|>%@`,?~0aZ.U\u0000\u0085\u2028\ud83d\ufeff\\/<=";
    for (int seed = 0; seed < 5_000; seed++) {
      Random random = new Random(seed);
      StringBuilder yaml = new StringBuilder(FleetFileTest.WHOLE);
      for (int change = random.nextInt(1, 8); change > 0; change--) {
        int at = random.nextInt(yaml.length());
        char c = alphabet.charAt(random.nextInt(alphabet.length()));
        switch (random.nextInt(4)) {
          case 0 -> yaml.insert(at, c);
          case 1 -> yaml.setCharAt(at, c);
          case 2 -> yaml.delete(at, Math.min(yaml.length() - 1, at + random.nextInt(1, 30)));
          default -> yaml.insert(at, yaml.substring(at, Math.min(yaml.length(), at + 40)));
        }
      }
      String text = yaml.toString();
      switch (FleetFile.read(text, "f")) {
        case Reading.Good good ->
            assertThat(FleetFile.read(FleetFile.write(good.spec()), "f"))
                .as("seed %d", seed)
                .isEqualTo(good);
        case Reading.Bad bad -> {
          assertThat(bad.problems()).as("seed %d", seed).isNotEmpty();
          long lines = text.lines().count() + 1;
          for (Problem problem : bad.problems()) {
            assertThat(problem.line())
                .as("seed %d: %s", seed, problem)
                .isBetween(1, (int) lines + 3);
            assertThat(problem.toString()).as("seed %d", seed).doesNotContain("\n", "\u0000");
          }
        }
      }
    }
  }

  /** Makes specs that are good by construction. */
  private static final class Specs {
    private final Random random;

    Specs(Random random) {
      this.random = random;
    }

    FleetSpec spec() {
      List<Model> models = new ArrayList<>();
      for (int i = random.nextInt(4); i > 0; i--) {
        models.add(model("m" + i + pick("", "/x", ":4b", ".gguf", "@1")));
      }
      List<Backend> backends = new ArrayList<>();
      for (int i = random.nextInt(3); i > 0; i--) {
        backends.add(
            new Backend(
                i + "b",
                URI.create(pick("http://h:1/v1", "https://h.example/a/v1", "http://[::1]:8/v1")),
                pick(TEXTS),
                random.nextInt(1, 99),
                random.nextBoolean() ? Optional.of("KEY_" + i) : Optional.empty()));
      }
      List<Destination> to = new ArrayList<>();
      models.forEach(model -> to.add(new Destination.ToModel(model.name())));
      backends.forEach(backend -> to.add(new Destination.ToBackend(backend.name())));
      List<Route> routes = new ArrayList<>();
      if (!to.isEmpty() && random.nextBoolean()) {
        routes.add(new Route("r", List.of("r", "1r", "null"), to));
      }
      Limits limits =
          random.nextBoolean()
              ? Limits.DEFAULT
              : new Limits(
                  random.nextInt(1, 100_000),
                  Duration.ofMillis(random.nextInt(1, 3_600_000)),
                  random.nextInt(1024, 64 << 20),
                  random.nextInt(16, 4096),
                  Duration.ofSeconds(random.nextInt(1, 120)));
      return new FleetSpec(models, backends, routes, limits);
    }

    private Model model(String name) {
      List<Recipe> recipes = new ArrayList<>();
      boolean embeddings = random.nextBoolean();
      for (int i = random.nextInt(3); i > 0; i--) {
        recipes.add(
            recipe(
                new When(
                    some("linux", "macos"),
                    some("aarch64"),
                    some("nvidia", "none"),
                    List.of("n", "0x1f")),
                embeddings));
      }
      recipes.add(recipe(When.ANYWHERE, embeddings));
      Reasoning reasoning = pick(List.of(Reasoning.values()));
      Promise promise =
          new Promise(
              random.nextInt(64, 1 << 24),
              reasoning,
              random.nextBoolean(),
              random.nextBoolean() ? 0 : random.nextInt(1, 10_000) / 100.0,
              random.nextBoolean()
                  ? Sampling.DEFAULTS
                  : new Sampling(
                      random.nextInt(0, 201) / 100.0,
                      random.nextInt(1, 101) / 100.0,
                      random.nextInt(0, 101),
                      random.nextInt(0, 101) / 100.0));
      return new Model(name, promise, random.nextInt(1, 65), recipes);
    }

    private Recipe recipe(When when, boolean embeddings) {
      Map<String, String> args = new LinkedHashMap<>();
      for (int i = random.nextInt(4); i > 0; i--) {
        args.put(pick("threads", "null", "true", "99", "n-gpu-layers"), pick(TEXTS));
      }
      String source =
          pick("/models/" + pick(TEXTS), "hf:a/b/c.gguf", "pip:a==1/b.gguf", "https://h/x?y=1");
      Chat chat = random.nextBoolean() ? Chat.OWN : new Chat("", "", "/templates/" + pick(TEXTS));
      return new Recipe(
          "llama-server", when, source, random.nextInt(0, 257), embeddings, chat, args);
    }

    private List<String> some(String... words) {
      return random.nextBoolean() ? List.of() : List.of(words);
    }

    private String pick(String... words) {
      return pick(List.of(words));
    }

    private <T> T pick(List<T> words) {
      return words.get(random.nextInt(words.size()));
    }
  }
}
