import type { Passage } from "../passage.ts";

/** One question to a service that several clients wait for. */
export interface Flight<T> {
  readonly outcome: Promise<T>;
  /** How many wait. */
  readonly waiting: number;
  /**
   * Waits for the outcome on behalf of a client; undefined when that goes away before. Rejects as the outcome does, or
   * with the error of `deadline` when that passes before. When the last one leaves, the question is given up.
   */
  join(
    passage: Passage,
    deadline?: { readonly leftMs: number; readonly error: Error },
  ): Promise<T | undefined>;
}

export function createFlight<T>(outcome: Promise<T>, abandon: () => void): Flight<T> {
  let waiting = 0;
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  outcome.then(end, end);

  return {
    outcome,
    get waiting() {
      return waiting;
    },
    join({ res }, deadline) {
      waiting += 1;
      return new Promise((resolve, reject) => {
        const leave = () => {
          clearTimeout(timer);
          res.off("close", onGone);
          waiting -= 1;
          if (waiting === 0 && !isOver) abandon();
        };
        const onGone = () => {
          leave();
          resolve(undefined);
        };
        const onLate = () => {
          leave();
          reject(deadline?.error);
        };
        const timer = deadline && setTimeout(onLate, Math.max(0, deadline.leftMs));
        res.once("close", onGone);
        outcome.then(
          (value) => {
            leave();
            resolve(value);
          },
          (error) => {
            leave();
            reject(error);
          },
        );
      });
    },
  };
}
