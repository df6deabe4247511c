/** Lets one pass at a time, at a steady pace. */
export interface LookupQueue {
  /** Resolves with true when it is one's turn; with false at once where too many wait. */
  waitForTurn(): Promise<boolean>;
}

export interface LookupQueueOptions {
  /** Between two that pass. */
  readonly paceMs?: number;
  readonly maxWaiting?: number;
}

/**
 * Who is next is drawn by lot: a flood can fill the line but not hold its front, so that one among a hundred invented keys
 * waits a second at most on average. 100 look-ups a second are nothing to any store.
 */
export function createLookupQueue({ paceMs = 10, maxWaiting = 100 }: LookupQueueOptions = {}): LookupQueue {
  const waiting: ((isPassed: boolean) => void)[] = [];
  let timer: NodeJS.Timeout | undefined;

  const next = (): void => {
    timer = undefined;
    const at = Math.floor(Math.random() * waiting.length);
    const [chosen] = waiting.splice(at, 1);
    if (chosen === undefined) return;
    timer = setTimeout(next, paceMs);
    chosen(true);
  };

  return {
    waitForTurn() {
      if (waiting.length >= maxWaiting) return Promise.resolve(false);
      return new Promise((resolve) => {
        waiting.push(resolve);
        if (timer === undefined) next();
      });
    },
  };
}
