package dev.flotilla.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.hub.fleet.WorkerView;
import dev.flotilla.hub.fleet.WorkerView.State;
import dev.flotilla.hub.lanes.TestAgent;
import dev.flotilla.hub.proof.ProofLimits;
import dev.flotilla.hub.spec.Revisions;
import dev.flotilla.testkit.client.TestClient;
import dev.flotilla.testkit.scripted.Gate;
import dev.flotilla.testkit.scripted.PretendModel;
import dev.flotilla.testkit.scripted.Script;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What goes wrong around a proof, in a whole hub: agents' lanes, engines on sockets, clients who
 * ask meanwhile. Whatever happens, a worker that is refused never sees a client's words.
 */
class HubProofTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int CONTEXT = 4096;
  private static final String CLIENTS_WORDS = "where do clients go";
  private static final String CHAT =
      "{\"model\":\"m\",\"max_tokens\":12,\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}]}"
          .formatted(CLIENTS_WORDS);
  private static final String STREAM =
      CHAT.replace(
          "{\"model", "{\"stream\":true,\"stream_options\":{\"include_usage\":true},\"model");

  @TempDir Path home;

  private final List<AutoCloseable> opened = new ArrayList<>();
  private Hub hub;

  @BeforeEach
  void aHub() throws Exception {
    hub = hub(ProofLimits.DEFAULTS);
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : opened.reversed()) {
      each.close();
    }
  }

  private <T extends AutoCloseable> T closing(T part) {
    opened.add(part);
    return part;
  }

  private Hub hub(ProofLimits limits) throws Exception {
    return closing(HubCalls.start(home, limits));
  }

  /** A hub that is as {@link #hub}, with other limits. */
  private void limits(ProofLimits limits) throws Exception {
    hub.close();
    hub = hub(limits);
  }

  /** Machines join; then one worker of the model is wanted for each. */
  private List<TestAgent> machines(String promise, String... nodes) throws Exception {
    List<TestAgent> agents = new ArrayList<>();
    for (String node : nodes) {
      agents.add(closing(HubCalls.joins(hub, node, node)));
    }
    HubCalls.awaitNodes(hub, nodes.length);
    serves(nodes.length, promise);
    return agents;
  }

  private void serves(int replicas, String promise) throws Exception {
    String yaml =
        """
        models:
          m:
            promise: { context: 4096, tools: true%s }
            replicas: %d
            recipes:
              - { engine: llama-server, source: /models/m.gguf, slots: 4 }
        limits:
          proof: { tokens: 16, level: 5s }
          queue: { wait: 300ms }
        """
            .formatted(promise, replicas);
    assertThat(hub.revisions().apply(yaml, "fleet.yaml", "ann", false))
        .as(yaml)
        .isInstanceOf(Revisions.Outcome.Applied.class);
  }

  private PretendModel engine() {
    return closing(PretendModel.named("m", CONTEXT));
  }

  private TestAgent serves(TestAgent agent, String worker, PretendModel engine) {
    HubCalls.awaitWanted(agent, worker);
    return agent.serves(worker, 1, engine.engine().port());
  }

  private TestClient client() {
    return TestClient.connect(hub.address().getPort());
  }

  private TestClient.Reply chat(String body) {
    try (TestClient client = client()) {
      return client.post("/v1/chat/completions", body).reply();
    }
  }

  private Optional<WorkerView> worker(String name) {
    return hub.fleet().worker(name);
  }

  private void awaitState(String worker, State state) {
    await()
        .atMost(LIMIT)
        .untilAsserted(() ->
            assertThat(worker(worker))
                .get()
                .as(() -> String.valueOf(worker(worker)))
                .extracting(WorkerView::state)
                .isEqualTo(state));
  }

  /** Why it was refused. It may be gone by then, for another machine may take its place. */
  private String refusal(String worker) {
    String sentence = worker + " is refused, nothing is sent to it: ";
    await().atMost(LIMIT).untilAsserted(() -> assertThat(events()).contains(sentence));
    String after = events().split(java.util.regex.Pattern.quote(sentence), 2)[1];
    return after.substring(0, after.indexOf("\"}"));
  }

  private String events() {
    try (TestClient client = client()) {
      return client.get("/api/events?limit=200").reply().body();
    }
  }

  private static long clientsRequests(PretendModel engine) {
    return engine.engine().requests().stream()
        .filter(request -> request.bodyText().contains(CLIENTS_WORDS))
        .count();
  }

  @Test
  void rubbishOfTheRightShapeIsRefusedAndNobodysTarget() throws Exception {
    List<TestAgent> agents = machines("", "box");
    PretendModel engine = engine().turnsToRubbish();
    serves(agents.getFirst(), "box/m-1", engine);

    assertThat(refusal("box/m-1")).startsWith("its answer is not its model's: ");
    TestClient.Reply nobody = chat(CHAT);
    assertThat(nobody.status()).isGreaterThanOrEqualTo(400);
    assertThat(nobody.body()).contains("refused");
    assertThat(clientsRequests(engine)).isZero();
  }

  @Test
  void rubbishIsToldFromWhatAServingWorkerAnswersToo() throws Exception {
    List<TestAgent> agents = machines("", "one", "two");
    PretendModel wrong = engine().turnsToRubbish();
    serves(agents.get(0), "one/m-1", engine());
    awaitState("one/m-1", State.SERVING);
    serves(agents.get(1), "two/m-1", wrong);

    assertThat(refusal("two/m-1")).startsWith("its answer is not its model's: ");
    for (int i = 0; i < 8; i++) {
      assertThat(chat(CHAT).status()).isEqualTo(200);
    }
    assertThat(clientsRequests(wrong)).isZero();
  }

  @Test
  void anotherTokenizerIsRefused() throws Exception {
    List<TestAgent> agents = machines("", "one", "two");
    PretendModel other = engine().countsOtherwise();
    serves(agents.get(0), "one/m-1", engine());
    awaitState("one/m-1", State.SERVING);
    serves(agents.get(1), "two/m-1", other);

    assertThat(refusal("two/m-1")).contains("tokens of ", "as the model's reference has");
    assertThat(clientsRequests(other)).isZero();
  }

  @Test
  void aWorkerThatHangsInItsProofIsRefusedAndLetGo() throws Exception {
    limits(ProofLimits.DEFAULTS.within(Duration.ofSeconds(30), Duration.ofSeconds(1)));
    List<TestAgent> agents = machines("", "box");
    PretendModel hangs = engine().waitsFor(Gate.closed());
    serves(agents.getFirst(), "box/m-1", hangs);

    assertThat(refusal("box/m-1")).contains("the whole proof: expected 1 s at most, seen longer");
    hangs.engine().awaitInFlight(0);
    assertThat(chat(CHAT).status()).isGreaterThanOrEqualTo(400);
    assertThat(clientsRequests(hangs)).isZero();
  }

  @Test
  void theNextWorkerOfAMachineIsProvedAfterOneThatHung() throws Exception {
    limits(ProofLimits.DEFAULTS.within(Duration.ofSeconds(1), Duration.ofSeconds(60)));
    TestAgent box = machines("", "box").getFirst();
    serves(2, "");
    PretendModel hangs = engine().waitsFor(Gate.closed());
    serves(box, "box/m-1", hangs);
    assertThat(refusal("box/m-1")).contains("is not its model's", "within 1 s");

    serves(box, "box/m-2", engine());

    awaitState("box/m-2", State.SERVING);
    assertThat(chat(CHAT).status()).isEqualTo(200);
    assertThat(clientsRequests(hangs)).isZero();
  }

  @Test
  void theReferencesWorkerMayDieDuringAProof() throws Exception {
    List<TestAgent> agents = machines("", "one", "two");
    PretendModel reference = engine();
    serves(agents.get(0), "one/m-1", reference);
    awaitState("one/m-1", State.SERVING);
    Gate gate = Gate.closed();
    serves(agents.get(1), "two/m-1", engine().waitsFor(gate));
    await().atMost(LIMIT).until(() -> gate.waiting() > 0);

    reference.engine().die();
    agents.get(0).close();
    await().atMost(LIMIT).until(() -> worker("one/m-1").orElseThrow().state() != State.SERVING);
    gate.open();

    awaitState("two/m-1", State.SERVING);
    assertThat(chat(CHAT).status()).isEqualTo(200);
  }

  @Test
  void anEngineThatPassesAndThenChangesIsDrainedProvedAgainAndRefused() throws Exception {
    List<TestAgent> agents = machines("", "box");
    PretendModel engine = engine();
    serves(agents.getFirst(), "box/m-1", engine);
    awaitState("box/m-1", State.SERVING);
    assertThat(chat(CHAT).status()).isEqualTo(200);

    engine.engine().alwaysChat(Script.html(200));
    await()
        .atMost(LIMIT)
        .untilAsserted(() -> {
          assertThat(chat(CHAT).status()).isGreaterThanOrEqualTo(400);
          assertThat(worker("box/m-1").orElseThrow().state()).isNotEqualTo(State.SERVING);
        });

    refusal("box/m-1");
    await()
        .atMost(LIMIT)
        .untilAsserted(() ->
            assertThat(events())
                .contains(
                    "answers in a shape that it did not have when it was proved",
                    "worker-refused"));
    long before = clientsRequests(engine);
    assertThat(chat(CHAT).status()).isGreaterThanOrEqualTo(400);
    assertThat(clientsRequests(engine)).isEqualTo(before);
  }

  @Test
  void workersOfOneMachineTakeTurnsAlsoWhereItHasTwoAgents() throws Exception {
    TestAgent one = closing(HubCalls.joins(hub, "one", "box"));
    TestAgent two = closing(HubCalls.joins(hub, "two", "box"));
    TestAgent elsewhere = closing(HubCalls.joins(hub, "zoo", "zoo"));
    HubCalls.awaitNodes(hub, 3);
    serves(3, "");
    Gate gate = Gate.closed();
    PretendModel waits = engine();
    serves(one, "one/m-1", engine().waitsFor(gate));
    await().atMost(LIMIT).until(() -> gate.waiting() > 0);

    serves(two, "two/m-1", waits);
    awaitState("two/m-1", State.PROVING);
    serves(elsewhere, "zoo/m-1", engine());

    awaitState("zoo/m-1", State.SERVING);
    assertThat(waits.engine().requests()).as("its machine is busy").isEmpty();
    gate.open();
    awaitState("one/m-1", State.SERVING);
    awaitState("two/m-1", State.SERVING);
  }

  @Test
  void aWorkerIsProvedWhileTheFleetIsAtFullLoad() throws Exception {
    List<TestAgent> agents = machines("", "one", "two");
    PretendModel busy = engine();
    serves(agents.get(0), "one/m-1", busy);
    awaitState("one/m-1", State.SERVING);
    Gate gate = Gate.closed();
    busy.waitsFor(gate);
    List<TestClient> running = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      TestClient client = closing(client());
      running.add(client.post("/v1/chat/completions", CHAT));
    }
    await().atMost(LIMIT).until(() -> clientsRequests(busy) == 4);

    PretendModel second = engine();
    serves(agents.get(1), "two/m-1", second);

    awaitState("two/m-1", State.SERVING);
    assertThat(chat(CHAT).status()).as("goes to the new worker").isEqualTo(200);
    assertThat(clientsRequests(second)).isOne();
    gate.open();
    for (TestClient client : running) {
      assertThat(client.reply().status()).isEqualTo(200);
    }
  }

  @Test
  void theLastWorkerIsNotDrainedForSlownessButItIsSaid() throws Exception {
    limits(ProofLimits.DEFAULTS.slowAfter(Duration.ofMillis(100), 3));
    List<TestAgent> agents = machines(", min-decode: 20 tok/s", "box");
    PretendModel engine = engine().takes(Duration.ofMillis(4));
    serves(agents.getFirst(), "box/m-1", engine);
    awaitState("box/m-1", State.SERVING);

    engine.takes(Duration.ofMillis(200));
    await()
        .atMost(LIMIT)
        .untilAsserted(() -> {
          assertThat(chat(STREAM).status()).isEqualTo(200);
          assertThat(events())
              .contains("box/m-1 answers at", "It goes on serving, for no other worker serves m.");
        });
    assertThat(worker("box/m-1").orElseThrow().state()).isEqualTo(State.SERVING);
  }
}
