import type { Clock } from "./endpoint/clock.ts";
import type { Endpoint, SourceEvent } from "./endpoint/endpoint.ts";
import type { Fault } from "./endpoint/fault.ts";
import { sendHedged } from "./hedge.ts";
import {
  concludeRequest,
  createPendingRequests,
  groupRequests,
  type PendingRequest,
  type RpcRequest,
  settle,
} from "./pending-request.ts";

export interface PoolOptions {
  /** Names the chain in errors. */
  readonly name: string;
  readonly createError: (message: string) => Error;
  readonly endpoints: readonly Endpoint[];
  readonly clock: Clock;
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
  /** After this long a request without a response becomes an error. */
  readonly totalMs: number;
  /** The same for a block that no endpoint has yet. */
  readonly behindTotalMs: number;
  readonly minHedgeMs: number;
  readonly onEvent: (event: SourceEvent) => void;
  /** Aborts when the source is closed. */
  readonly lifetime: AbortSignal;
}

export interface Pool {
  /** Values in the order of the requests. `about` names them in errors (method and blocks). */
  request<T>(
    requests: readonly RpcRequest<T>[],
    about: string,
    options?: { maxBatch?: number },
  ): Promise<T[]>;
}

/** The state of one group of requests during rounds of endpoints. */
interface RequestGroup<T> {
  readonly about: string;
  readonly results: T[];
  readonly startedAt: number;
  pending: PendingRequest<T>[];
  /** Endpoints tried in this round. */
  readonly tried: Set<Endpoint>;
  round: number;
  last: { readonly fault: Fault; readonly endpoint: Endpoint } | undefined;
}

/** Counts endpoints without a method as refusing: they get no further request for it. */
function refuseUnsupported(item: PendingRequest<unknown>, endpoints: readonly Endpoint[]): void {
  for (const { method, feature = method } of item.request.calls) {
    for (const endpoint of endpoints.filter((each) => each.isUnsupported(feature))) {
      item.refusals.set(endpoint, { kind: "method", message: `${feature} is not offered` });
    }
  }
}

/** The policy for a request and several endpoints: failover, back-off, final error. */
export function createPool(options: PoolOptions): Pool {
  const { name, createError, endpoints, clock, lifetime } = options;
  const probing = new Set<Endpoint>();

  /** The first URL while it is healthy, then the fastest; unmeasured ones in the configured order. */
  function listUsable(): Endpoint[] {
    const usable = endpoints.filter((endpoint) => endpoint.health.state().kind === "ready");
    for (const endpoint of endpoints) {
      if (endpoint.health.state().kind !== "probe") continue;
      // A half-open circuit gets a small probe while others serve, else a real request.
      if (usable.length === 0) usable.push(endpoint);
      else startProbe(endpoint);
    }
    const isPrimary = (endpoint: Endpoint) => (endpoint === endpoints[0] ? 0 : 1);
    const speed = (endpoint: Endpoint) => endpoint.latency.smoothedMs() ?? 0;
    return usable.sort((a, b) => isPrimary(a) - isPrimary(b) || speed(a) - speed(b));
  }

  function startProbe(endpoint: Endpoint): void {
    if (probing.has(endpoint)) return;
    probing.add(endpoint);
    void endpoint.probe().finally(() => probing.delete(endpoint));
  }

  function fail(about: string, cause: Fault | undefined, endpoint: Endpoint | undefined): never {
    const aside = endpoints.flatMap((each) => {
      const reason = each.health.state().kind === "aside" ? each.asideReason() : undefined;
      return reason === undefined || reason === cause?.message ? [] : [`${each.host} set aside: ${reason}`];
    });
    const hosts = endpoint === undefined ? endpoints.map((each) => each.host).join(", ") : endpoint.host;
    const reasons = [cause?.message ?? "", ...aside].filter((reason) => reason !== "").join("; ");
    throw createError(`${name}: ${about} failed at ${hosts}: ${reasons === "" ? "no response" : reasons}`);
  }

  /** Sends the group to one endpoint that was not tried in this round; returns false when none is left. */
  async function tryNext<T>(group: RequestGroup<T>): Promise<boolean> {
    const { pending, tried } = group;
    const usable = listUsable().filter((endpoint) => !tried.has(endpoint));
    for (const item of pending) refuseUnsupported(item, usable);
    const next = usable.find((endpoint) => pending.some((item) => !item.refusals.has(endpoint)));
    if (next === undefined) return false;
    const sent = pending.filter((item) => !item.refusals.has(next));
    const spare = usable.find((each) => each !== next && sent.every((item) => !item.refusals.has(each)));
    const sizeBefore = next.batchSize();
    const attempt = await sendHedged(sent, [next, spare], options);
    tried.add(next).add(attempt.endpoint);
    const { left, lastFault } = settle(sent, attempt, group.results);
    group.pending = [...pending.filter((item) => !sent.includes(item)), ...left];
    if (lastFault !== undefined) group.last = { fault: lastFault, endpoint: attempt.endpoint };
    // It only refused the batch size: the same endpoint again, at once, with smaller batches.
    if (lastFault?.kind === "batch" && next.batchSize() < sizeBefore) tried.delete(next);
    return true;
  }

  /** Settles the requests that every endpoint in service refuses. */
  function conclude<T>(group: RequestGroup<T>): void {
    const inService = endpoints.filter(({ health }) => !["open", "aside"].includes(health.state().kind));
    group.pending = group.pending.filter((item) => {
      const conclusion = concludeRequest(item, inService);
      if (conclusion === "continue") return true;
      if (conclusion instanceof Error) throw conclusion;
      if (conclusion === "refused") fail(group.about, group.last?.fault, group.last?.endpoint);
      group.results[item.index] = conclusion.value;
      return false;
    });
  }

  /** Waits for the next round; throws once the time is over. */
  async function backOff<T>({ about, last, startedAt, round }: RequestGroup<T>): Promise<void> {
    const states = endpoints
      .map((endpoint) => endpoint.health.state())
      .filter((state) => state.kind !== "aside");
    const elapsedMs = clock.now() - startedAt;
    const limitMs =
      last?.fault.kind === "behind" ? Math.min(options.behindTotalMs, options.totalMs) : options.totalMs;
    if (elapsedMs >= limitMs || states.length === 0) fail(about, last?.fault, last?.endpoint);
    const untilSoonestMs = Math.min(...states.map((state) => state.until)) - clock.now();
    const backoffMs =
      Math.min(options.backoffMs * 2 ** round, options.maxBackoffMs) * (0.5 + clock.random() / 2);
    await clock.sleep(Math.min(Math.max(untilSoonestMs, backoffMs), limitMs - elapsedMs), lifetime);
  }

  async function runGroup<T>(group: RequestGroup<T>): Promise<void> {
    while (group.pending.length > 0) {
      if (lifetime.aborted) throw createError(`${name}: ${group.about} given up: the source is closed`);
      if (await tryNext(group)) continue;
      conclude(group);
      if (group.pending.length === 0) return;
      await backOff(group);
      group.tried.clear();
      group.round += 1;
    }
  }

  return {
    async request<T>(
      requests: readonly RpcRequest<T>[],
      about: string,
      { maxBatch = Number.POSITIVE_INFINITY } = {},
    ) {
      const results = new Array<T>(requests.length);
      const size = Math.min(maxBatch, Math.max(1, ...endpoints.map((endpoint) => endpoint.batchSize())));
      const start = { about, results, startedAt: clock.now(), round: 0, last: undefined };
      const groups = groupRequests(createPendingRequests(requests), size);
      await Promise.all(groups.map((pending) => runGroup({ ...start, pending, tried: new Set() })));
      return results;
    },
  };
}
