import type { Clock } from "../endpoint/clock.ts";
import type { RpcCall } from "../endpoint/transport.ts";

/** A clock that stands still while promises can continue, and jumps to the next timer when none can. */
export interface FakeClock extends Clock {
  /** Runs until the promise settles; throws after 10,000 timers: an endless loop. */
  run<T>(promise: Promise<T>): Promise<T>;
}

export function createFakeClock({ random = () => 0.5 }: { random?: () => number } = {}): FakeClock {
  let now = 0;
  let order = 0;
  const timers = new Set<{ at: number; order: number; fire: () => void }>();
  const clock: FakeClock = {
    now: () => now,
    wallNow: () => 1_700_000_000_000 + now,
    random,
    sleep(ms, signal) {
      return new Promise((resolve) => {
        if (signal?.aborted === true) return resolve();
        const timer = { at: now + Math.max(0, ms), order: order++, fire: () => {} };
        timer.fire = () => {
          timers.delete(timer);
          signal?.removeEventListener("abort", timer.fire);
          resolve();
        };
        timers.add(timer);
        signal?.addEventListener("abort", timer.fire, { once: true });
      });
    },
    async run(promise) {
      let settled = false;
      const done = () => {
        settled = true;
      };
      promise.then(done, done);
      for (let fired = 0; fired < 10_000; fired++) {
        // A macrotask lets all pending promises continue first.
        await new Promise((resolve) => setImmediate(resolve));
        if (settled) return promise;
        const next = [...timers].sort((a, b) => a.at - b.at || a.order - b.order)[0];
        if (next === undefined) continue;
        now = Math.max(now, next.at);
        next.fire();
      }
      throw new Error("The clock ran 10,000 timers without an end");
    },
  };
  return clock;
}

/** A fake endpoint's reaction to one HTTP request. */
export type FakeResponse =
  | { readonly results: readonly unknown[]; readonly delayMs?: number }
  | {
      readonly status: number;
      readonly body: string;
      readonly headers?: Record<string, string>;
      readonly delayMs?: number;
    }
  | "hang"
  | "reset";

/** As a result, becomes a JSON-RPC error. */
export class RpcFailure {
  readonly code: number;
  readonly message: string;
  readonly data: unknown;
  constructor(code: number, message: string, data?: unknown) {
    this.code = code;
    this.message = message;
    this.data = data;
  }
}

export interface FakeRequest {
  readonly host: string;
  readonly calls: readonly RpcCall[];
  readonly at: number;
}

export interface FakeNetwork {
  readonly fetch: typeof fetch;
  readonly requests: FakeRequest[];
  /** Requests to one host, without those that check its chain. */
  requestsTo(host: string): FakeRequest[];
}

const CHECKS = ["eth_chainId", "getGenesisHash"];

/** Endpoints by host; each handler is called once per HTTP request. */
export function createFakeNetwork(
  clock: Clock,
  hosts: Record<string, (calls: readonly RpcCall[]) => FakeResponse>,
): FakeNetwork {
  const requests: FakeRequest[] = [];

  async function answer(url: URL, init: RequestInit): Promise<Response> {
    const body = JSON.parse(String(init.body)) as (RpcCall & { id: number }) | (RpcCall & { id: number })[];
    const calls = Array.isArray(body) ? body : [body];
    requests.push({
      host: url.host,
      calls: calls.map(({ method, params }) => ({ method, params })),
      at: clock.now(),
    });
    const given = hosts[url.host]?.(calls) ?? "reset";
    if (given === "reset")
      throw new TypeError("fetch failed", { cause: new Error(`connect ECONNREFUSED to ${url}`) });
    if (given === "hang") return never(init.signal);
    if (given.delayMs !== undefined) await clock.sleep(given.delayMs, init.signal ?? undefined);
    if (init.signal?.aborted === true) throw new DOMException("aborted", "AbortError");
    if ("status" in given)
      return new Response(given.body, { status: given.status, headers: given.headers ?? {} });
    const replies = given.results.map((result, i) => {
      const id = calls[i]?.id;
      return result instanceof RpcFailure
        ? { jsonrpc: "2.0", id, error: { ...result } }
        : { jsonrpc: "2.0", id, result };
    });
    return new Response(JSON.stringify(Array.isArray(body) ? replies : replies[0]));
  }

  return {
    fetch: ((input: URL, init: RequestInit) => answer(input, init)) as typeof fetch,
    requests,
    requestsTo: (host) =>
      requests.filter(
        ({ host: requested, calls }) =>
          requested === host && !calls.every(({ method }) => CHECKS.includes(method)),
      ),
  };
}

function never(signal: AbortSignal | null | undefined): Promise<never> {
  return new Promise((_, reject) =>
    signal?.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError"))),
  );
}
