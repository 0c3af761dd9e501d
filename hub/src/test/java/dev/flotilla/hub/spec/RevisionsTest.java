package dev.flotilla.hub.spec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.hub.spec.Revisions.InForce;
import dev.flotilla.hub.spec.Revisions.Outcome;
import dev.flotilla.hub.store.Event;
import dev.flotilla.hub.store.EventTable.Filter;
import dev.flotilla.hub.store.Store;
import dev.flotilla.hub.store.StoreFailed;
import dev.flotilla.hub.store.StoreLimits;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RevisionsTest {

  private static final InstantSource CLOCK =
      InstantSource.fixed(Instant.parse("2026-11-29T12:00:00Z"));
  private static final String BAD = "models:\n  m: { replicas: auto }";
  private static final String NOTHING = "models: {}";

  @TempDir Path home;
  private final List<InForce> activated = new ArrayList<>();
  private Store store;
  private Revisions revisions;

  @BeforeEach
  void open() throws Exception {
    store = Store.open(home, StoreLimits.DEFAULT, CLOCK);
    revisions = new Revisions(store, store, CLOCK, activated::add);
    revisions.start();
  }

  @AfterEach
  void close() {
    store.close();
  }

  private Outcome apply(String yaml) throws StoreFailed {
    return revisions.apply(yaml, "fleet.yaml", "ann", false);
  }

  @Test
  void aGoodFileIsStoredActivatedAndThereAfterARestart() throws Exception {
    assertThat(apply(FleetFileTest.WHOLE))
        .isInstanceOfSatisfying(
            Outcome.Applied.class,
            applied -> {
              assertThat(applied.revision()).isEqualTo(1);
              assertThat(applied.changes()).hasSize(7);
            });
    InForce first = revisions.inForce();
    assertThat(activated).containsExactly(first);
    close();
    activated.clear();
    open();
    assertThat(revisions.inForce()).isEqualTo(first);
    assertThat(activated).containsExactly(first);
  }

  @Test
  void aDryRunShowsTheChangesAndChangesNothing() throws Exception {
    assertThat(revisions.apply(FleetFileTest.WHOLE, "fleet.yaml", "ann", true))
        .isInstanceOf(Outcome.WouldChange.class);
    assertThat(revisions.apply(BAD, "fleet.yaml", "ann", true))
        .isInstanceOf(Outcome.Rejected.class);
    assertThat(activated).isEmpty();
    assertThat(revisions.rejection()).isEmpty();
    assertThat(store.revisions().newest(1)).isEmpty();
  }

  @Test
  void aFileThatSaysTheSameIsNoRevision() throws Exception {
    apply(NOTHING);
    assertThat(apply("# with a comment\nmodels: {}")).isEqualTo(new Outcome.Unchanged(1));
    assertThat(activated).hasSize(1);
  }

  @Test
  void aBadFileChangesNothingAndSaysSoUntilAGoodOne() throws Exception {
    apply(NOTHING);
    assertThat(apply(BAD)).isInstanceOf(Outcome.Rejected.class);
    assertThat(revisions.inForce().number()).isEqualTo(1);
    assertThat(revisions.rejection().orElseThrow().by()).isEqualTo("ann");
    assertThat(revisions.rejections()).isEqualTo(1);
    store.flush();
    Event event = store.events().newest(1, Filter.ALL).getFirst();
    assertThat(event.kind()).isEqualTo("revision-rejected");
    assertThat(event.message())
        .startsWith("fleet.yaml by ann was rejected, revision 1 stays in force: line 2: models.m");

    assertThat(apply(FleetFileTest.WHOLE)).isInstanceOf(Outcome.Applied.class);
    assertThat(revisions.rejection()).isEmpty();
  }

  @Test
  void aStoredFileThatCantBeReadAnyMoreGivesWayToTheOneBefore() throws Exception {
    apply(NOTHING);
    store.revisions().add("an older program", CLOCK.instant(), BAD);
    Revisions restarted = new Revisions(store, store, CLOCK, activated::add);
    assertThat(restarted.start().number()).isEqualTo(1);
    assertThat(restarted.rejection().orElseThrow().by()).isEqualTo("an older program");
  }

  @Test
  void whatNeverServedIsForgottenAndTheOneBeforeIsInForceAgain() throws Exception {
    apply(NOTHING);
    InForce before = revisions.inForce();
    apply(FleetFileTest.WHOLE);

    assertThat(revisions.withdraw(1)).as("another is in force by now").isFalse();
    assertThat(revisions.withdraw(2)).isTrue();

    assertThat(revisions.inForce()).isEqualTo(before);
    assertThat(activated.getLast()).isEqualTo(before);
    store.flush();
    assertThat(store.events().newest(1, Filter.ALL).getFirst().message())
        .isEqualTo(
            "Revision 2 by ann was withdrawn, for none of its workers could start; revision 1 is in"
                + " force.");
    assertThat(revisions.withdraw(1)).isTrue();
    assertThat(revisions.inForce().number()).as("nothing was before it").isZero();
    close();
    open();
    assertThat(revisions.inForce().number()).isZero();
  }

  @Test
  void whatCantBeStoredIsNotActivated() throws Exception {
    apply(NOTHING);
    store.close();
    assertThatThrownBy(() -> apply(FleetFileTest.WHOLE))
        .isInstanceOf(StoreFailed.class)
        .hasMessageStartingWith("the revision was not stored: ");
    assertThat(revisions.inForce().number()).isEqualTo(1);
    assertThat(activated).hasSize(1);
  }
}
