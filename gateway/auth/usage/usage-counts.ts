import { DAY_MS, type UsageRow } from "./usage-record.ts";

/** Whose request it was, and for what. */
export interface UsageEvent {
  readonly subject: string;
  readonly key: string;
  readonly endpoint: string;
  readonly isPassed: boolean;
}

/** One row in the making. */
export interface UsageCount {
  readonly subject: string;
  readonly key: string;
  readonly endpoint: string;
  readonly day: number;
  requests: number;
  limited: number;
  lastAtMs: number;
  /** Is in the list of what waits to be written. */
  isChanged: boolean;
}

/** Requests of this process by day, key and endpoint, and which counts have changed since they were taken. */
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
    const ofDay = this.#days.get(day) ?? new Map<string, Map<string, UsageCount>>();
    this.#days.set(day, ofDay);
    const findByKey = ofDay.get(key) ?? new Map<string, UsageCount>();
    ofDay.set(key, findByKey);
    const count = { subject, key, endpoint, day, requests: 0, limited: 0, lastAtMs: 0, isChanged: false };
    findByKey.set(endpoint, count);
    return count;
  }

  #markChanged(count: UsageCount): void {
    if (count.isChanged) return;
    count.isChanged = true;
    this.#changed.push(count);
  }

  /** What has changed since the last call; what is added from now on counts as changed again. */
  drainChanged(): readonly UsageCount[] {
    const taken = this.#changed;
    this.#changed = [];
    for (const count of taken) count.isChanged = false;
    return taken;
  }

  /** Puts back what was taken in vain. */
  restoreChanged(counts: readonly UsageCount[]): void {
    for (const count of counts) this.#markChanged(count);
  }

  /** Forgets days before this one that are written. */
  forgetBefore(day: number): void {
    const waiting = new Set(this.#changed.map((count) => count.day));
    for (const past of this.#days.keys()) if (past < day && !waiting.has(past)) this.#days.delete(past);
  }

  /** Whether a key's requests of a day are held here. */
  has(key: string, day: number): boolean {
    return this.#days.get(day)?.has(key) === true;
  }

  ofKey(key: string): UsageCount[] {
    return [...this.#days.values()].flatMap((ofDay) => [...(ofDay.get(key)?.values() ?? [])]);
  }
}

/** A count as a row of the gateway process that made it. */
export function toUsageRow(count: UsageCount, gateway: string): UsageRow {
  const { isChanged: _isChanged, lastAtMs, ...rest } = count;
  return { ...rest, gateway, lastAt: Math.floor(lastAtMs / 1000) };
}
