package dev.flotilla.agent.lanes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AgentIdentityTest {
  @TempDir Path home;

  @Test
  void theIdStaysAndTheGenerationGrows() throws Exception {
    AgentIdentity first = AgentIdentity.open(home);
    AgentIdentity second = AgentIdentity.open(home);

    assertThat(first.generation()).isEqualTo(1);
    assertThat(second.generation()).isEqualTo(2);
    assertThat(second.agentId()).isEqualTo(first.agentId()).hasSize(32);
  }

  @Test
  void theCredentialIsForTheOwnerAlone() throws Exception {
    AgentIdentity identity = AgentIdentity.open(home);
    assertThat(identity.credential()).isEmpty();

    identity.keepCredential("node-1", "secret");

    assertThat(AgentIdentity.open(home).credential()).contains("secret");
    Path file = home.resolve("agent/credential");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
    assertThat(identity.toString()).doesNotContain("secret");
  }

  @Test
  void aCredentialThatCouldBreakAHeaderIsNotKept() throws Exception {
    AgentIdentity identity = AgentIdentity.open(home);

    assertThatThrownBy(() -> identity.keepCredential("node-1", "a\r\nx-evil: 1"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("printable ASCII");
  }

  @Test
  void theNameStandsBesideTheCredential() throws Exception {
    AgentIdentity identity = AgentIdentity.open(home);
    assertThat(identity.node()).isEmpty();

    identity.keepCredential("laptop", "secret");
    assertThat(AgentIdentity.open(home).node()).contains("laptop");

    Files.writeString(home.resolve("agent/node"), "../laptop");
    assertThatThrownBy(identity::node)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("node is damaged");
  }

  @Test
  void aDamagedFileIsNamedWithTheWayOut() throws Exception {
    AgentIdentity.open(home);
    Files.writeString(home.resolve("agent/generation"), "many");

    assertThatThrownBy(() -> AgentIdentity.open(home))
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll("generation is damaged", "Remove the folder", "new token");
  }
}
