package dev.flotilla.wire.release;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a release is called, and who made it. */
class ReleaseTest {
  private static final ReleaseKey.Pair PAIR = ReleaseKey.generate();
  private static final String DIGEST = "ab".repeat(32);

  @ParameterizedTest
  @CsvSource({
    "0.1.0, 0.1.1",
    "0.1.0, 0.1.0+1.gabc",
    "0.1.0+9.gfff, 0.1.0+10.gaaa",
    "0.9, 0.10",
    "1.0+500, 1.0.1+1",
    "0.1.0+412.g4cad8a3, 0.1.0+413.g0000000"
  })
  void aVersionIsOlderThanTheNextOneAndNotTheOtherWayRound(String older, String newer) {
    assertThat(ReleaseVersion.isOlder(older, newer)).isTrue();
    assertThat(ReleaseVersion.isOlder(newer, older)).isFalse();
    assertThat(ReleaseVersion.isOlder(newer, newer)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "v1", "1.0/..", "../1.0", "1.0+", "1..0", "1.0+1.a/b", "1.0 ", "1.2.3.4.5"})
  void whatIsNoVersionIsNeverOlderNorNewer(String text) {
    assertThat(ReleaseVersion.isOne(text)).isFalse();
    assertThat(ReleaseVersion.isOlder(text, "1.0")).isFalse();
    assertThat(ReleaseVersion.isOlder("1.0", text)).isFalse();
  }

  @Test
  void aSignatureHoldsForExactlyWhatWasSignedAndOnlyItsKey() throws IOException {
    Release release = signed("0.2.0", 1000, DIGEST);
    ReleaseKey key = ReleaseKey.parse(PAIR.key().text()).orElseThrow();

    assertThat(release.problem()).isEmpty();
    assertThat(key.signed(release)).isTrue();
    assertThat(key.signed(new Release("0.2.1", 1000, DIGEST, release.signature()))).isFalse();
    assertThat(key.signed(new Release("0.2.0", 1001, DIGEST, release.signature()))).isFalse();
    assertThat(key.signed(new Release("0.2.0", 1000, "cd".repeat(32), release.signature())))
        .isFalse();
    assertThat(ReleaseKey.generate().key().signed(release)).isFalse();
    assertThat(key.signed(new Release("0.2.0", 1000, DIGEST, "not base64"))).isFalse();
  }

  @Test
  void aFormThatIsWrongIsNamed() throws IOException {
    String signature = signed("0.2.0", 1000, DIGEST).signature();
    assertThat(new Release("../0.2.0", 1000, DIGEST, signature).problem())
        .get()
        .asString()
        .contains("version");
    assertThat(new Release("0.2.0", 0, DIGEST, signature).problem())
        .get()
        .asString()
        .contains("64 MiB");
    assertThat(new Release("0.2.0", Long.MAX_VALUE, DIGEST, signature).problem()).isPresent();
    assertThat(
            new Release("0.2.0", 1, DIGEST.toUpperCase(java.util.Locale.ROOT), signature).problem())
        .get()
        .asString()
        .contains("SHA-256");
    assertThat(new Release("0.2.0", 1, DIGEST, "").problem())
        .get()
        .asString()
        .contains("signature");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "ed25519:", "ed25519:AAAA", "ed25519:not base64!", "rsa:AAAA"})
  void whatIsNoKeyIsNone(String text) {
    assertThat(ReleaseKey.parse(text)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----",
        "-----END PRIVATE KEY----------BEGIN PRIVATE KEY-----"
      })
  void whatIsNoPrivateKeySignsNothingAndIsNotRepeated(String pem) {
    assertThatThrownBy(() -> ReleaseKey.sign(pem, "x".getBytes(US_ASCII)))
        .isInstanceOf(IOException.class)
        .hasMessage("it holds no Ed25519 key in PEM (PKCS#8)");
  }

  @Test
  void aPairNeverShowsItsSecret() {
    assertThat(PAIR.toString()).doesNotContain("PRIVATE").contains("ed25519:");
  }

  private static Release signed(String version, long bytes, String sha256) throws IOException {
    Release unsigned = new Release(version, bytes, sha256, "");
    return new Release(
        version, bytes, sha256, ReleaseKey.sign(PAIR.privatePem(), unsigned.signedBytes()));
  }
}
