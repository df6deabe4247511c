/** Sets with the time of each member's last use: `touch` and `recent` of the in-memory cache. */
export class RecentSets {
  /** Least recently touched first: a Map keeps the order of insertion. */
  readonly #sets = new Map<string, Map<string, number>>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  touch(name: string, members: readonly string[], { ttlMs, keep }: { ttlMs: number; keep: number }): void {
    const touchedAt = this.#sets.get(name) ?? new Map<string, number>();
    const nowMs = this.#now();
    for (const member of members) {
      touchedAt.delete(member);
      touchedAt.set(member, nowMs);
    }
    for (const [oldest, atMs] of touchedAt) {
      if (touchedAt.size <= keep && nowMs - atMs < ttlMs) break;
      touchedAt.delete(oldest);
    }
    if (touchedAt.size === 0) this.#sets.delete(name);
    else this.#sets.set(name, touchedAt);
  }

  recent(name: string, { ttlMs, limit }: { ttlMs: number; limit: number }): string[] {
    const nowMs = this.#now();
    const members = [...(this.#sets.get(name) ?? [])].reverse();
    return members
      .filter(([, atMs]) => nowMs - atMs < ttlMs)
      .slice(0, Math.max(0, limit))
      .map(([member]) => member);
  }

  clear(): void {
    this.#sets.clear();
  }
}
