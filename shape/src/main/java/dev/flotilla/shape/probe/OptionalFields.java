package dev.flotilla.shape.probe;

import java.util.List;
import java.util.Map;
import java.util.Set;

/** Fields of the API that a reply may have or not. */
final class OptionalFields {
  /** The forms that each may have, beside {@code null}. */
  private static final Map<String, Set<String>> FORMS =
      Map.of(
          "system_fingerprint", Set.of("string"),
          "service_tier", Set.of("string"),
          "usage", Set.of(),
          "usage.prompt_tokens_details", Set.of("object"),
          "usage.completion_tokens_details", Set.of("object"),
          "choices[].logprobs", Set.of(),
          "choices[].message.refusal", Set.of(),
          "choices[].message.annotations", Set.of("list"),
          "choices[].delta.refusal", Set.of());

  /** Of these the API says what they are, and no client minds one more or less. */
  private static final List<String> DETAILS =
      List.of("usage.prompt_tokens_details.", "usage.completion_tokens_details.");

  private static final List<String> PREFIXES = List.of("usage chunk.", "chunk.", "");

  private OptionalFields() {}

  /** Whether a fact is of such a field, and of a form that it may have. */
  static boolean allow(String place, String seen) {
    for (String prefix : PREFIXES) {
      if (!place.startsWith(prefix)) {
        continue;
      }
      String bare = place.substring(prefix.length());
      Set<String> forms = FORMS.get(bare);
      if (forms != null) {
        return Forms.of(seen).stream()
            .allMatch(
                form -> forms.contains(form) || form.equals("null") || form.equals(Shape.ABSENT));
      }
      if (DETAILS.stream().anyMatch(bare::startsWith)) {
        return true;
      }
    }
    return false;
  }
}
