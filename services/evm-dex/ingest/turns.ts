/** When something is read again: every so many blocks, from a phase on. */
export interface Turn {
  readonly every: number;
  readonly phase: number;
}

/** The last block up to `head` that is a turn; negative where there was none. Follows from the head alone. */
export function lastTurn(head: number, { every, phase }: Turn): number {
  return head - ((((head - phase) % every) + every) % every);
}

/** A number of an address, for phases: as good as random, and the same everywhere. */
export function numberOf(address: string): number {
  return Number.parseInt(address.slice(-8), 16);
}

/** What is due at the newest blocks: as many as may be, in any order. */
export function newest<T>(due: readonly T[], most: number, blockOf: (each: T) => number): readonly T[] {
  if (due.length <= most) return due;
  const least = Float64Array.from(due, blockOf).sort()[due.length - most] as number;
  const newer = due.filter((each) => blockOf(each) > least);
  const oldest = due.filter((each) => blockOf(each) === least);
  return [...newer, ...oldest.slice(0, most - newer.length)];
}
