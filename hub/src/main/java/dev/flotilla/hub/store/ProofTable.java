package dev.flotilla.hub.store;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Proofs of workers, the newest {@value #KEPT} of them, and the reference of each model. */
public final class ProofTable {
  static final int KEPT = 1_000;

  private final Store store;

  ProofTable(Store store) {
    this.store = store;
  }

  public void add(StoredProof proof) throws StoreFailed {
    store.write(
        "the proof of " + proof.worker(),
        handle -> {
          handle.execute(
              "INSERT INTO proofs (at, worker, model, passed, document) VALUES (?, ?, ?, ?, ?)",
              proof.at().toEpochMilli(),
              proof.worker(),
              proof.model(),
              proof.passed(),
              proof.document());
          handle.execute("DELETE FROM proofs WHERE id <= (SELECT max(id) FROM proofs) - ?", KEPT);
          return Boolean.TRUE;
        });
  }

  /** The newest proofs, newest first. */
  public List<StoredProof> newest(int limit) throws StoreFailed {
    return store.read(
        "the proofs",
        handle ->
            handle
                .createQuery("SELECT * FROM proofs ORDER BY id DESC LIMIT ?")
                .bind(0, store.rows(limit))
                .map((row, context) ->
                    new StoredProof(
                        Instant.ofEpochMilli(row.getLong("at")),
                        row.getString("worker"),
                        row.getString("model"),
                        row.getBoolean("passed"),
                        row.getString("document")))
                .list());
  }

  /** Keeps what a model's workers are compared with, in place of what was kept before. */
  public void reference(String model, Instant at, String worker, String document)
      throws StoreFailed {
    store.write(
        "the reference of " + model,
        handle -> {
          handle.execute(
              "INSERT OR REPLACE INTO model_references (model, at, worker, document) VALUES (?, ?, ?, ?)",
              model,
              at.toEpochMilli(),
              worker,
              document);
          return Boolean.TRUE;
        });
  }

  /** By model, a JSON object each. */
  public Map<String, String> references() throws StoreFailed {
    return store.read(
        "the references",
        handle -> {
          Map<String, String> all = new LinkedHashMap<>();
          handle
              .createQuery("SELECT model, document FROM model_references ORDER BY model")
              .mapToMap()
              .forEach(row ->
                  all.put(String.valueOf(row.get("model")), String.valueOf(row.get("document"))));
          return all;
        });
  }
}
