package dev.flotilla.agent.lanes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HubAddressTest {

  @Test
  void anAddressIsSchemeHostAndPort() {
    assertThat(HubAddress.parse("http://10.0.0.5:8484"))
        .isEqualTo(new HubAddress("10.0.0.5", 8484, false));
    assertThat(HubAddress.parse("https://hub.example.org/"))
        .isEqualTo(new HubAddress("hub.example.org", 443, true));
    assertThat(HubAddress.parse("http://[::1]:8484").bareHost()).isEqualTo("::1");
    assertThat(HubAddress.parse("http://[::1]:8484").hostHeader()).isEqualTo("[::1]:8484");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "10.0.0.5:8484",
        "ftp://hub",
        "http://",
        "http://hub:99999",
        "http://user:secret@hub",
        "http://hub:8484/v1",
        "http://hub\r\nx: y"
      })
  void anythingElseIsRefusedInWords(String url) {
    assertThatThrownBy(() -> HubAddress.parse(url))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("the hub's address ")
        .message()
        .doesNotContain("secret");
  }
}
