export interface RateLimit {
  readonly requests: number;
  readonly windowMs: number;
}

/** What the public portal says of itself. */
export const PUBLIC_LIMIT: RateLimit = { requests: 20, windowMs: 10_000 };

/** Counts the requests of each client in a window that slides. Returns whether one more is allowed. */
export function createLimiter(limit: RateLimit | undefined): (client: string, nowMs: number) => boolean {
  const times = new Map<string, number[]>();
  return (client, nowMs) => {
    if (limit === undefined) return true;
    const recent = (times.get(client) ?? []).filter((timeMs) => timeMs > nowMs - limit.windowMs);
    const isAllowed = recent.length < limit.requests;
    if (isAllowed) recent.push(nowMs);
    times.set(client, recent);
    return isAllowed;
  };
}
