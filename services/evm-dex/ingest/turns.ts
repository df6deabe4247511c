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
