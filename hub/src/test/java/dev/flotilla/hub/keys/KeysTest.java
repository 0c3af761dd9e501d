package dev.flotilla.hub.keys;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.hub.gateway.ClientKey;
import dev.flotilla.hub.keys.Keys.Creation;
import dev.flotilla.hub.keys.Keys.Role;
import dev.flotilla.hub.store.Store;
import dev.flotilla.hub.store.StoreLimits;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KeysTest {

  private static final InstantSource CLOCK =
      InstantSource.fixed(Instant.parse("2026-11-29T12:00:00Z"));

  @TempDir Path home;
  private Store store;
  private Keys keys;

  @BeforeEach
  void open() throws Exception {
    store = Store.open(home, StoreLimits.DEFAULT, CLOCK);
    keys = new Keys(store, true, CLOCK, new SecureRandom());
  }

  @AfterEach
  void close() {
    store.close();
  }

  private String create(String name, Role role) throws Exception {
    return ((Creation.Created) keys.create(name, role)).secret();
  }

  @Test
  void aKeyWorksAtOnceAndAfterARestartUntilItIsRevoked() throws Exception {
    String secret = create("laptop", Role.ADMIN);
    assertThat(secret).matches("fl-[0-9A-Za-z]{32}");
    assertThat(keys.authenticate(secret)).contains(new ClientKey("laptop"));

    close();
    open();
    Keys.Key key = new Keys.Key("laptop", Role.ADMIN, CLOCK.instant());
    assertThat(keys.list()).containsExactly(key);
    assertThat(keys.find(secret)).contains(key);

    create("desk", Role.ADMIN);
    assertThat(keys.revoke("laptop", false)).isEqualTo(new Keys.Revocation.Revoked());
    assertThat(keys.authenticate(secret)).isEmpty();
    assertThat(keys.revoke("laptop", false)).isEqualTo(new Keys.Revocation.Unknown());
    assertThat(create("laptop", Role.CLIENT)).isNotEqualTo(secret);
  }

  @Test
  void theLastAdminKeyIsNotRevokedByMistake() throws Exception {
    String secret = create("me", Role.ADMIN);
    create("editor", Role.CLIENT);

    assertThat(keys.revoke("me", false))
        .isInstanceOfSatisfying(
            Keys.Revocation.Refused.class,
            refused ->
                assertThat(refused.why())
                    .startsWith("me is the last admin key")
                    .contains("flotilla keys create --admin NAME", "--force"));
    assertThat(keys.find(secret)).isPresent();

    assertThat(keys.revoke("editor", false)).isEqualTo(new Keys.Revocation.Revoked());
    assertThat(keys.revoke("me", true)).isEqualTo(new Keys.Revocation.Revoked());
    assertThat(keys.find(secret)).isEmpty();
  }

  @Test
  void aNameIsForOneKey() throws Exception {
    create("laptop", Role.CLIENT);
    assertThat(keys.create("laptop", Role.ADMIN))
        .isEqualTo(
            new Creation.Refused(
                "there is a key named laptop already: revoke it first, or choose another name"));
  }

  @Test
  void aNameThatCantBeOneIsRefused() throws Exception {
    assertThat(keys.create("../x", Role.CLIENT))
        .isInstanceOfSatisfying(
            Creation.Refused.class,
            refused -> assertThat(refused.why()).startsWith("a key's name begins with a letter"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "fl-",
        "fl-short",
        "sk-0123456789012345678901234567890a",
        "fl-0123456789012345678901234567890!",
        "fl-01234567890123456789012345678901 ",
        "fl-00000000000000000000000000000000"
      })
  void whatIsNoKeyIsNobody(String bearer) {
    assertThat(keys.authenticate(bearer)).isEmpty();
  }

  @Test
  void theSecretIsNowhereOnTheDiskAndInNoText() throws Exception {
    Keys.Creation created = keys.create("laptop", Role.CLIENT);
    String secret = ((Creation.Created) created).secret();
    assertThat(created.toString()).doesNotContain(secret.substring(3));
    store.close();
    try (Stream<Path> files = Files.walk(home)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        assertThat(new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1))
            .doesNotContain(secret.substring(3));
      }
    }
  }

  @Test
  void rolesHaveWords() {
    assertThat(Role.of("admin")).contains(Role.ADMIN);
    assertThat(Role.of("ADMIN")).isEqualTo(Optional.empty());
  }
}
