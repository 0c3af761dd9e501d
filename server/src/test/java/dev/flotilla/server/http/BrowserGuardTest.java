package dev.flotilla.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.server.http.BrowserGuard.Source;
import dev.flotilla.wire.openai.ApiError;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class BrowserGuardTest {
  private final BrowserGuard open = guard("127.0.0.1", "Studio.lan", false);
  private final BrowserGuard keyed = guard("0.0.0.0", "studio", true);

  private static BrowserGuard guard(String listenHost, String machine, boolean keys) {
    return new BrowserGuard("hub", "make a key and restart it", listenHost, machine, keys);
  }

  @Test
  void aCommandLineSendsNoOriginAndPasses() {
    assertThat(open.refusal(new Source(true, "127.0.0.1:8484", "", ""))).isEmpty();
  }

  @Test
  void theHubsOwnPagesPass() {
    assertThat(
            open.refusal(
                new Source(true, "localhost:8484", "http://localhost:8484", "same-origin")))
        .isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"https://evil.example", "http://127.0.0.1:9999", "null", "http://["})
  void aPageOfAnotherSiteChangesNothing(String origin) {
    assertThat(code(open.refusal(new Source(true, "127.0.0.1:8484", origin, ""))))
        .isEqualTo("origin_not_allowed");
    assertThat(code(keyed.refusal(new Source(true, "hub.example:8484", origin, ""))))
        .isEqualTo("origin_not_allowed");
  }

  @Test
  void aCrossSiteRequestWithoutOriginChangesNothing() {
    assertThat(code(open.refusal(new Source(true, "127.0.0.1:8484", "", "cross-site"))))
        .isEqualTo("origin_not_allowed");
  }

  @ParameterizedTest
  @ValueSource(strings = {"evil.example:8484", "127.0.0.1.evil.example", "", "999.1", "[::1", "a"})
  void aNameThatWasReboundToLoopbackReadsNothingWhereNoKeyProtects(String host) {
    assertThat(code(open.refusal(new Source(false, host, "", "")))).isEqualTo("host_not_allowed");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "127.0.0.1:8484",
        "127.0.0.1",
        "[::1]:8484",
        "localhost",
        "LOCALHOST:1",
        "studio.lan:8484",
        "studio.lan.local",
        "studio"
      })
  void addressesAndTheMachinesNamesAreKnown(String host) {
    assertThat(open.refusal(new Source(false, host, "", ""))).isEmpty();
  }

  @Test
  void whereAKeyProtectsTheHubItIsCalledByAnyName() {
    assertThat(keyed.refusal(new Source(false, "models.example.org", "", ""))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"https://evil.example", "http://127.0.0.1:9999", "null", "http://["})
  void aPageOfAnotherSiteHasNoWorkDoneWhereNoKeyProtects(String origin) {
    Source page = new Source(true, "127.0.0.1:8484", origin, "");
    assertThat(code(open.refusalOfUse(page))).isEqualTo("origin_not_allowed");
    assertThat(keyed.refusalOfUse(page)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "http://127.0.0.1:8484", "vscode-webview://x", "tauri://localhost"})
  void programsAndInstalledPagesHaveWorkDone(String origin) {
    assertThat(open.refusalOfUse(new Source(true, "127.0.0.1:8484", origin, ""))).isEmpty();
  }

  @Test
  void workIsNotDoneByAReboundNameEither() {
    assertThat(code(open.refusalOfUse(new Source(false, "evil.example", "", ""))))
        .isEqualTo("host_not_allowed");
  }

  private static String code(Optional<ApiError> refusal) {
    return refusal.map(ApiError::code).orElse("");
  }
}
