package dev.flotilla.engine.grammar;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A grammar at work: which bytes may come, and by these which tokens.
 *
 * <p>A <i>place</i> is a node of the network that takes a byte or a whole token, and the nodes to
 * come back to; a <i>state</i> is all places where the text so far can stand. States are made when
 * they are first reached and found again afterwards, with the states that their bytes lead to and
 * the tokens that they allow, so the second request with the same schema finds everything done.
 *
 * <p>What is kept is bounded: beyond {@link #STATES_MAX} states or {@link #MASKS_MAX} masks all is
 * forgotten, and who stands in a state goes on from there. Calls within each other are bounded by
 * {@link #CALLS_MAX}: deeper ones are not allowed to begin. Work is bounded too: a grammar that can
 * be read in so many ways that one mask takes more than {@link #MASK_PLACES_MAX} places is refused,
 * at its first mask by whoever asked for it, at a later one by the answer that came there.
 *
 * <p>One lock guards everything; a state's mask is read without it.
 */
final class Automaton {
  static final int STATES_MAX = 4096;
  static final int MASKS_MAX = 256;
  static final int CALLS_MAX = 256;

  /** Places in one state. */
  static final int PLACES_MAX = 4096;

  /** Places that are looked at for one mask: a second of work. */
  static final int MASK_PLACES_MAX = 20_000_000;

  /** Nodes to come back to, all that were ever there; beyond, the automaton is not kept. */
  static final int STACKS_MAX = 1 << 16;

  private static final int MARKS = 4 * PLACES_MAX;

  private final Network network;
  private final TokenBytes tokens;
  private final int root;
  private final Map<State, State> states = new HashMap<>();
  private final Map<Long, Integer> stacks = new HashMap<>();
  private int[] returnTo = new int[64];
  private int[] below = new int[64];
  private int[] height = new int[64];
  private int stackCount = 1;
  private int masks;

  /** Places that a closure has found so far, and those that it has still to look at. */
  private long[] found = new long[64];

  private int foundCount;

  /** The same places by their hash; an entry counts where its round is this closure's. */
  private final long[] marks = new long[MARKS];

  private final int[] markRounds = new int[MARKS];
  private int round;

  /** Places that may still be looked at for the mask that is made. */
  private long placesLeft = MASK_PLACES_MAX;

  /** A set of places; equal to another of the same. */
  static final class State {
    private final long[] places;
    private final boolean complete;

    /** Whether one of the places takes a whole token. */
    private final boolean takesTokens;

    private final @Nullable State[] after = new State[256];
    private volatile long @Nullable [] mask;

    private State(long[] places, boolean complete, boolean takesTokens) {
      this.places = places;
      this.complete = complete;
      this.takesTokens = takesTokens;
    }

    /** Whether the text may end here. */
    boolean complete() {
      return complete;
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof State state
          && complete == state.complete
          && Arrays.equals(places, state.places);
    }

    @Override
    public int hashCode() {
      return Arrays.hashCode(places);
    }
  }

  Automaton(Network network, int root, TokenBytes tokens) {
    this.network = network;
    this.root = root;
    this.tokens = tokens;
  }

  /** Where a text begins. */
  synchronized State start() {
    begin();
    boolean complete = close(network.start(root), 0);
    return intern(complete);
  }

  /** Where a text stands after one more token, by itself or by its bytes, where it has any. */
  synchronized State after(State state, int token, byte[] bytes) {
    State at = state;
    for (byte each : bytes) {
      at = after(at, each & 0xff);
    }
    if (!state.takesTokens) {
      return at;
    }
    begin();
    boolean complete = false;
    boolean taken = false;
    for (long place : state.places) {
      int node = (int) (place >>> 32);
      if (network.low(node) == Network.TOKEN && network.takes(node, token)) {
        complete |= close(network.next(node), (int) place);
        taken = true;
      }
    }
    if (!taken) {
      return at;
    }
    if (bytes.length > 0) {
      complete |= at.complete;
      for (long place : at.places) {
        // never node 0: these are places that take something
        add((int) (place >>> 32), (int) place);
      }
    }
    return intern(complete);
  }

  private State after(State state, int value) {
    State known = state.after[value];
    if (known != null) {
      return known;
    }
    begin();
    placesLeft -= state.places.length;
    boolean complete = false;
    for (long place : state.places) {
      int node = (int) (place >>> 32);
      if (network.low(node) >= 0 && value >= network.low(node) && value <= network.high(node)) {
        complete |= close(network.next(node), (int) place);
      }
    }
    State next = intern(complete);
    state.after[value] = next;
    return next;
  }

  private void begin() {
    foundCount = 0;
    round++;
  }

  private State intern(boolean complete) {
    long[] places = Arrays.copyOf(found, foundCount);
    Arrays.sort(places);
    boolean tokens = false;
    int count = 0;
    for (int i = 0; i < places.length; i++) {
      if (takes(places[i]) && (count == 0 || places[count - 1] != places[i])) {
        tokens |= network.low((int) (places[i] >>> 32)) == Network.TOKEN;
        places[count] = places[i];
        count++;
      }
    }
    State state = new State(Arrays.copyOf(places, count), complete, tokens);
    State known = states.get(state);
    if (known != null) {
      return known;
    }
    if (states.size() >= STATES_MAX) {
      states.clear();
    }
    states.put(state, state);
    return state;
  }

  /** Whether it takes a byte or a token. */
  private boolean takes(long place) {
    int low = network.low((int) (place >>> 32));
    return low >= 0 || low == Network.TOKEN;
  }

  /**
   * Adds a place and all that are reached from it without a byte or a token; whether the text may
   * end there.
   */
  private boolean close(int node, int stack) {
    int from = foundCount;
    boolean complete = add(node, stack);
    for (int i = from; i < foundCount; i++) {
      int at = (int) (found[i] >>> 32);
      int on = (int) found[i];
      if (network.low(at) == Network.SPLIT) {
        complete |= add(network.high(at), on);
        complete |= add(network.next(at), on);
      } else if (network.low(at) == Network.CALL) {
        int then = network.next(at);
        // A call at the end of a rule has nothing to come back to.
        int pushed = then == Network.END ? on : push(then, on);
        if (pushed >= 0) {
          complete |= add(network.start(network.high(at)), pushed);
        }
      }
    }
    return complete;
  }

  private boolean add(int node, int stack) {
    int at = node;
    int on = stack;
    while (at == Network.END) {
      if (on == 0) {
        return true;
      }
      at = returnTo[on];
      on = below[on];
    }
    long place = ((long) at << 32) | on;
    if (foundCount == PLACES_MAX || !mark(place)) {
      return false;
    }
    if (foundCount == found.length) {
      found = Arrays.copyOf(found, foundCount * 2);
    }
    found[foundCount] = place;
    foundCount++;
    return false;
  }

  /** Whether the place is new to this closure. */
  private boolean mark(long place) {
    int slot = (int) ((place * 0x9E3779B97F4A7C15L) >>> 40) & (MARKS - 1);
    while (markRounds[slot] == round) {
      if (marks[slot] == place) {
        return false;
      }
      slot = (slot + 1) & (MARKS - 1);
    }
    markRounds[slot] = round;
    marks[slot] = place;
    return true;
  }

  /** Whether it has grown so far that the next request had better begin with a new one. */
  synchronized boolean full() {
    return stackCount > STACKS_MAX;
  }

  private int push(int then, int stack) {
    if (height[stack] >= CALLS_MAX) {
      return -1;
    }
    long key = ((long) then << 32) | stack;
    Integer known = stacks.get(key);
    if (known != null) {
      return known;
    }
    if (stackCount == returnTo.length) {
      returnTo = Arrays.copyOf(returnTo, stackCount * 2);
      below = Arrays.copyOf(below, stackCount * 2);
      height = Arrays.copyOf(height, stackCount * 2);
    }
    returnTo[stackCount] = then;
    below[stackCount] = stack;
    height[stackCount] = height[stack] + 1;
    stacks.put(key, stackCount);
    stackCount++;
    return stackCount - 1;
  }

  /** The tokens that may come in a state, those that end an answer included where it may end. */
  long[] mask(State state) {
    long[] ready = state.mask;
    return ready == null ? makeMask(state) : ready;
  }

  private synchronized long[] makeMask(State state) {
    long[] ready = state.mask;
    if (ready != null) {
      return ready;
    }
    placesLeft = MASK_PLACES_MAX;
    long[] mask = new long[tokens.words()];
    State[] path = new State[tokens.longest() + 1];
    path[0] = state;
    // How many bytes of the token before the walk came through.
    int alive = 0;
    for (int place = 0; place < tokens.size(); place++) {
      int from = tokens.common(place);
      if (from > alive) {
        continue;
      }
      byte[] piece = tokens.piece(place);
      int at = from;
      while (at < piece.length) {
        State next = after(path[at], piece[at] & 0xff);
        if (placesLeft < 0) {
          throw new GrammarRefused("it can be read in too many ways at once");
        }
        if (next.places.length == 0 && !(next.complete && at + 1 == piece.length)) {
          break;
        }
        at++;
        path[at] = next;
      }
      alive = at;
      if (at == piece.length) {
        set(mask, tokens.token(place));
      }
    }
    if (state.takesTokens) {
      for (long place : state.places) {
        int node = (int) (place >>> 32);
        if (network.low(node) == Network.TOKEN) {
          allow(mask, network.high(node));
        }
      }
    }
    if (state.complete) {
      for (int end : tokens.ends()) {
        set(mask, end);
      }
    }
    keep(state, mask);
    return mask;
  }

  /** A token that a node takes, or below 0 all others. */
  private void allow(long[] mask, int which) {
    if (which >= 0) {
      set(mask, which);
      return;
    }
    boolean had = has(mask, ~which);
    for (int i = 0; i < mask.length; i++) {
      mask[i] |= tokens.noEnds(i);
    }
    if (!had) {
      mask[~which >> 6] &= ~(1L << ~which);
    }
  }

  private void keep(State state, long[] mask) {
    masks++;
    if (masks > MASKS_MAX) {
      states.keySet().forEach(each -> each.mask = null);
      masks = 1;
    }
    state.mask = mask;
  }

  private static boolean has(long[] mask, int token) {
    return (mask[token >> 6] >>> token & 1) != 0;
  }

  private static void set(long[] mask, int token) {
    mask[token >> 6] |= 1L << token;
  }
}
