export interface Gate {
  /** Resolves with the function that gives the place back. */
  enter(): Promise<() => void>;
  /** Halves the number of places: the other side said that it is too much. */
  narrow(): void;
  /** Adds a place back for every round of successes, up to the maximum. */
  widen(): void;
  places(): number;
}

/** At most so many holders at once, the others in order of arrival; the number follows what the other side bears. */
export function createGate(most: number): Gate {
  let places = most;
  let inside = 0;
  let successes = 0;
  const waiting: (() => void)[] = [];

  function admit(): void {
    while (inside < places) {
      const next = waiting.shift();
      if (next === undefined) return;
      inside += 1;
      next();
    }
  }

  function leave(): void {
    inside -= 1;
    admit();
  }

  return {
    enter() {
      return new Promise((resolve) => {
        waiting.push(() => resolve(leave));
        admit();
      });
    },
    narrow() {
      places = Math.max(1, Math.floor(places / 2));
      successes = 0;
    },
    widen() {
      successes += 1;
      // As many successes as there are places make one more: slow enough to stay under a limit for a while.
      if (places >= most || successes < places * 4) return;
      places += 1;
      successes = 0;
      admit();
    },
    places: () => places,
  };
}
