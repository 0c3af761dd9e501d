package dev.flotilla.hub.ui;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** How the page writes sizes, arguments and lines to paste. */
class WordsTest {

  @Test
  void sizesAreReadAtAGlance() {
    assertThat(Bytes.text(0)).isEqualTo("0 B");
    assertThat(Bytes.text(1023)).isEqualTo("1023 B");
    assertThat(Bytes.text(1536)).isEqualTo("1.5 KiB");
    assertThat(Bytes.text(192L << 30)).isEqualTo("192 GiB");
    assertThat(Bytes.text((1L << 30) - 1)).isEqualTo("1.0 GiB");
    assertThat(Bytes.text(-1)).isEqualTo("0 B");
    assertThat(Bytes.text(Long.MAX_VALUE)).endsWith(" TiB");
  }

  @Test
  void argumentsAreQuotedOnlyWhereAShellNeedsIt() {
    assertThat(ShellLine.quote("--ctx-size")).isEqualTo("--ctx-size");
    assertThat(ShellLine.quote("/a b/c")).isEqualTo("'/a b/c'");
    assertThat(ShellLine.quote("it's $HOME")).isEqualTo("'it'\\''s $HOME'");
    assertThat(ShellLine.quote("")).isEqualTo("''");
  }

  @Test
  void curlLineOfAHostileModelNameIsOneArgument() {
    CurlLine open = new CurlLine("http://127.0.0.1:8484", false);

    assertThat(open.chat("a'; rm -rf ~ \"\n"))
        .isEqualTo(
            "curl -s http://127.0.0.1:8484/v1/chat/completions -d"
                + " '{\"model\":\"a'\\''; rm -rf ~ \\\"\\n\",\"messages\":"
                + "[{\"role\":\"user\",\"content\":\"Say hi\"}]}'");
  }

  @Test
  void curlLineReadsADemandedKeyFromTheEnvironment() {
    assertThat(new CurlLine("http://h:1", true).embeddings("e"))
        .isEqualTo(
            "curl -s http://h:1/v1/embeddings -H \"Authorization: Bearer $FLOTILLA_KEY\" -d"
                + " '{\"model\":\"e\",\"input\":\"Say hi\"}'");
  }
}
