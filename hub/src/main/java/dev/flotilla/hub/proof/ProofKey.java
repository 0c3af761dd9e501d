package dev.flotilla.hub.proof;

import dev.flotilla.hub.fleet.ProofCandidate;
import dev.flotilla.wire.fleet.NodeFacts;
import dev.flotilla.wire.fleet.WorkerSpec;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeMap;

/**
 * What a proof stands for: two workers with the same key are the same thing on the same machine.
 */
final class ProofKey {
  private ProofKey() {}

  static String of(ProofCandidate candidate) {
    WorkerSpec spec = candidate.spec();
    List<String> parts = new ArrayList<>();
    parts.add(spec.model());
    parts.add(spec.engine());
    parts.add(candidate.engineBuild());
    // One name may stand for other bytes tomorrow, and two names for the same.
    parts.add(
        candidate.modelFingerprint().isEmpty() ? spec.source() : candidate.modelFingerprint());
    parts.add(spec.contextTokens() + " " + candidate.target().slots() + " " + spec.slots());
    parts.add(spec.reasoning() + " " + spec.tools() + " " + spec.embeddings());
    parts.add(spec.chat().toString());
    parts.add(new TreeMap<>(spec.args()).toString());
    parts.add(candidate.facts().map(ProofKey::machine).orElse(candidate.target().node()));
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256")
              .digest(String.join("\n", parts).getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest, 0, 12);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String machine(NodeFacts facts) {
    return "%s %s %s %s %s %d %d %s"
        .formatted(
            facts.host(),
            facts.os(),
            facts.osVersion(),
            facts.arch(),
            facts.cpu(),
            facts.logicalCores(),
            facts.memoryTotalBytes(),
            facts.accelerators().stream().map(NodeFacts.Accelerator::name).toList());
  }
}
