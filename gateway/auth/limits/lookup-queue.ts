/** Lets one waiter continue at a time, at a steady pace. */
export interface LookupQueue {
  /** Resolves with true on the waiter's turn; with false at once if too many wait. */
  waitForTurn(): Promise<boolean>;
}

interface LookupQueueOptions {
  /** Time between two turns. */
  readonly paceMs?: number;
  readonly maxWaiting?: number;
}

/**
 * Picks the next waiter at random: a flood can fill the queue but not hold its front, so one real key among a hundred
 * invented ones waits a second on average. 100 look-ups a second are nothing to any store.
 */
export function createLookupQueue({ paceMs = 10, maxWaiting = 100 }: LookupQueueOptions = {}): LookupQueue {
  const waiting: ((isAdmitted: boolean) => void)[] = [];
  let timer: NodeJS.Timeout | undefined;

  const admitNext = (): void => {
    timer = undefined;
    const index = Math.floor(Math.random() * waiting.length);
    const [resolve] = waiting.splice(index, 1);
    if (resolve === undefined) return;
    timer = setTimeout(admitNext, paceMs);
    resolve(true);
  };

  return {
    waitForTurn() {
      if (waiting.length >= maxWaiting) return Promise.resolve(false);
      return new Promise((resolve) => {
        waiting.push(resolve);
        if (timer === undefined) admitNext();
      });
    },
  };
}
