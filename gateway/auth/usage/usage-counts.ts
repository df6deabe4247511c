import { DAY_MS, type UsageRow } from "./usage-record.ts";

/** One request by key and endpoint. */
export interface UsageEvent {
  readonly subject: string;
  readonly key: string;
  readonly endpoint: string;
  readonly isPassed: boolean;
}

/** The counts of one future row. */
interface UsageCount {
  readonly subject: string;
  readonly key: string;
  readonly endpoint: string;
  readonly day: number;
  requests: number;
  limited: number;
  lastAtMs: number;
  /** Whether it waits to be written. */
  isChanged: boolean;
}

/** Requests of this process by day, key and endpoint, and which counts changed since the last write. */
export class UsageCounts {
  readonly #days = new Map<number, Map<string, Map<string, UsageCount>>>();
  #changed: UsageCount[] = [];

  add(event: UsageEvent, nowMs: number): void {
    const day = Math.floor(nowMs / DAY_MS);
    const count = this.#days.get(day)?.get(event.key)?.get(event.endpoint) ?? this.#begin(event, day);
    if (event.isPassed) count.requests += 1;
    else count.limited += 1;
    count.lastAtMs = nowMs;
    this.#markChanged(count);
  }

  #begin({ subject, key, endpoint }: UsageEvent, day: number): UsageCount {
    const byKey = this.#days.get(day) ?? new Map<string, Map<string, UsageCount>>();
    this.#days.set(day, byKey);
    const byEndpoint = byKey.get(key) ?? new Map<string, UsageCount>();
    byKey.set(key, byEndpoint);
    const count = { subject, key, endpoint, day, requests: 0, limited: 0, lastAtMs: 0, isChanged: false };
    byEndpoint.set(endpoint, count);
    return count;
  }

  #markChanged(count: UsageCount): void {
    if (count.isChanged) return;
    count.isChanged = true;
    this.#changed.push(count);
  }

  /** Returns the counts that changed since the last call and marks them unchanged. */
  drainChanged(): readonly UsageCount[] {
    const taken = this.#changed;
    this.#changed = [];
    for (const count of taken) count.isChanged = false;
    return taken;
  }

  /** Marks counts as changed again after a failed write. */
  restoreChanged(counts: readonly UsageCount[]): void {
    for (const count of counts) this.#markChanged(count);
  }

  /** Drops written days before this one. */
  forgetBefore(day: number): void {
    const waiting = new Set(this.#changed.map((count) => count.day));
    for (const past of this.#days.keys()) if (past < day && !waiting.has(past)) this.#days.delete(past);
  }

  /** Whether it has counts of a key's day. */
  has(key: string, day: number): boolean {
    return this.#days.get(day)?.has(key) === true;
  }

  findByKey(key: string): UsageCount[] {
    return [...this.#days.values()].flatMap((byKey) => [...(byKey.get(key)?.values() ?? [])]);
  }
}

/** Converts a count to a row of this gateway process. */
export function toUsageRow(count: UsageCount, gateway: string): UsageRow {
  const { isChanged: _isChanged, lastAtMs, ...rest } = count;
  return { ...rest, gateway, lastAt: Math.floor(lastAtMs / 1000) };
}
