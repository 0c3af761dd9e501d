package dev.flotilla.engine.schedule;

import org.jspecify.annotations.Nullable;

/**
 * Sequences that wait, the one that goes first on top: a binary heap in an array that never grows.
 * Invariant: none comes before the one at half its place.
 */
final class WaitingLine {
  private final @Nullable Sequence[] heap;
  private int size;

  WaitingLine(int capacity) {
    heap = new Sequence[capacity + 1];
  }

  int size() {
    return size;
  }

  Sequence at(int place) {
    Sequence sequence = heap[place + 1];
    if (sequence == null) {
      throw new IndexOutOfBoundsException(place);
    }
    return sequence;
  }

  Sequence first() {
    return at(0);
  }

  void add(Sequence sequence) {
    size++;
    up(size, sequence);
  }

  boolean remove(Sequence sequence) {
    for (int place = 1; place <= size; place++) {
      if (sequence.equals(heap[place])) {
        Sequence last = at(size - 1);
        heap[size] = null;
        size--;
        if (!last.equals(sequence)) {
          down(place, last);
          up(place, at(place - 1));
        }
        return true;
      }
    }
    return false;
  }

  private void up(int from, Sequence sequence) {
    int place = from;
    while (place > 1 && sequence.comesBefore(at(place / 2 - 1))) {
      heap[place] = heap[place / 2];
      place /= 2;
    }
    heap[place] = sequence;
  }

  private void down(int from, Sequence sequence) {
    int place = from;
    while (2 * place <= size) {
      int child = 2 * place;
      if (child < size && at(child).comesBefore(at(child - 1))) {
        child++;
      }
      if (!at(child - 1).comesBefore(sequence)) {
        break;
      }
      heap[place] = heap[child];
      place = child;
    }
    heap[place] = sequence;
  }
}
