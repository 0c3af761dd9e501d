package dev.flotilla.hub.routing;

import dev.flotilla.hub.routing.Target.Capability;
import dev.flotilla.shape.dialect.Feature;
import java.util.Set;

/**
 * What the dispatcher has to know of a request to place it.
 *
 * @param model the public name
 * @param capability {@link Capability#TEXT} or {@link Capability#EMBEDDINGS}
 * @param key who asks, for fairness; empty where no key is demanded
 * @param contextTokens tokens that surely have to fit, prompt and one of the answer; 0 where even
 *     that is not known
 * @param promptTokens best guess of the prompt's length, for the expected time only
 * @param outputTokensMax most tokens that the client wants, 0 where it does not say
 * @param features what the request asks for that not every engine has
 * @param tried ledger keys of the targets that already failed this request
 */
public record RequestNeeds(
    String model,
    Capability capability,
    String key,
    int contextTokens,
    int promptTokens,
    int outputTokensMax,
    Set<Feature> features,
    Set<String> tried) {

  public RequestNeeds {
    features = Set.copyOf(features);
    tried = Set.copyOf(tried);
  }

  /** The same request after an attempt on {@code target} failed. */
  public RequestNeeds without(Target target) {
    var more = new java.util.HashSet<>(tried);
    more.add(target.ledgerKey());
    return new RequestNeeds(
        model, capability, key, contextTokens, promptTokens, outputTokensMax, features, more);
  }

  /** The same request, of whose prompt more is known. */
  public RequestNeeds withPrompt(int context, int prompt) {
    return new RequestNeeds(
        model, capability, key, context, prompt, outputTokensMax, features, tried);
  }

  /** Whether the target could serve the request, if it had room. */
  public boolean canGoTo(Target target) {
    return fits(target) && !tried.contains(target.ledgerKey());
  }

  /** Whether the target answers this kind of request and can hold its prompt. */
  boolean fits(Target target) {
    return answeredBy(target)
        && honouredBy(target)
        && (target.contextTokens() == 0 || contextTokens <= target.contextTokens());
  }

  /** Whether the target's engine has what the request asks for. */
  boolean honouredBy(Target target) {
    for (Feature feature : features) {
      if (!target.honours(feature)) {
        return false;
      }
    }
    return true;
  }

  /** Whether the target answers this kind of request at all. */
  boolean answeredBy(Target target) {
    return target.capability() == Capability.BOTH || target.capability() == capability;
  }
}
