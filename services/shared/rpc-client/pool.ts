import type { Clock } from "./clock.ts";
import type { Endpoint, SourceEvent } from "./endpoint.ts";
import type { Fault } from "./fault.ts";
import { attemptHedged } from "./hedge.ts";
import { concludeWork, groupWork, type Question, settle, startWork, type Work } from "./work.ts";

export interface PoolOptions {
  /** Names the chain in errors. */
  readonly name: string;
  readonly createError: (message: string) => Error;
  readonly endpoints: readonly Endpoint[];
  readonly clock: Clock;
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
  /** After this long a question that nobody answers becomes an error. */
  readonly totalMs: number;
  /** The same for a block that no endpoint has seen yet. */
  readonly behindTotalMs: number;
  readonly minHedgeMs: number;
  readonly onEvent: (event: SourceEvent) => void;
  /** Aborts when the source is closed. */
  readonly lifetime: AbortSignal;
}

export interface Pool {
  /** Answers in the order of the questions. `about` names the question in errors (method and blocks). */
  ask<T>(questions: readonly Question<T>[], about: string, options?: { maxBatch?: number }): Promise<T[]>;
}

/** The way of one group of questions through rounds of endpoints. */
interface Journey<T> {
  readonly about: string;
  readonly results: T[];
  readonly startedAt: number;
  pending: Work<T>[];
  /** Endpoints asked in this round. */
  readonly tried: Set<Endpoint>;
  round: number;
  last: { readonly fault: Fault; readonly endpoint: Endpoint } | undefined;
}

/** Endpoints known to lack a method are not asked for it again. */
function refuseForLackers(item: Work<unknown>, endpoints: readonly Endpoint[]): void {
  for (const { method, feature = method } of item.question.calls) {
    for (const endpoint of endpoints.filter((each) => each.lacks(feature))) {
      item.refusals.set(endpoint, { kind: "method", message: `${feature} is not offered` });
    }
  }
}

/** Fails over, waits and gives up: the policy between a question and several endpoints. */
export function createPool(options: PoolOptions): Pool {
  const { name, createError, endpoints, clock, lifetime } = options;
  const probing = new Set<Endpoint>();

  /** The first URL while it is healthy, then the fastest; unmeasured ones keep the order of configuration. */
  function listUsable(): Endpoint[] {
    const usable = endpoints.filter((endpoint) => endpoint.health.state().kind === "ready");
    for (const endpoint of endpoints) {
      if (endpoint.health.state().kind !== "probe") continue;
      // A half-open circuit is tried by a small request of its own while others serve, by a real one if nobody does.
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
      return reason === undefined || reason === cause?.message ? [] : [`${each.host} put aside: ${reason}`];
    });
    const hosts = endpoint === undefined ? endpoints.map((each) => each.host).join(", ") : endpoint.host;
    const reasons = [cause?.message ?? "", ...aside].filter((reason) => reason !== "").join("; ");
    throw createError(`${name}: ${about} failed at ${hosts}: ${reasons === "" ? "no answer" : reasons}`);
  }

  /** Asks one endpoint that has not been asked in this round; false when there is none left. */
  async function step<T>(journey: Journey<T>): Promise<boolean> {
    const { pending, tried } = journey;
    const usable = listUsable().filter((endpoint) => !tried.has(endpoint));
    for (const item of pending) refuseForLackers(item, usable);
    const next = usable.find((endpoint) => pending.some((item) => !item.refusals.has(endpoint)));
    if (next === undefined) return false;
    const asked = pending.filter((item) => !item.refusals.has(next));
    const spare = usable.find((each) => each !== next && asked.every((item) => !item.refusals.has(each)));
    const sizeBefore = next.batchSize();
    const attempt = await attemptHedged(asked, [next, spare], options);
    tried.add(next).add(attempt.endpoint);
    const { left, lastFault } = settle(asked, attempt, journey.results);
    journey.pending = [...pending.filter((item) => !asked.includes(item)), ...left];
    if (lastFault !== undefined) journey.last = { fault: lastFault, endpoint: attempt.endpoint };
    // Smaller batches were all it wanted: the same endpoint again, at once.
    if (lastFault?.kind === "batch" && next.batchSize() < sizeBefore) tried.delete(next);
    return true;
  }

  /** Takes out the questions to which no endpoint in service has another answer. */
  function conclude<T>(journey: Journey<T>): void {
    const inService = endpoints.filter(({ health }) => !["open", "aside"].includes(health.state().kind));
    journey.pending = journey.pending.filter((item) => {
      const end = concludeWork(item, inService);
      if (end === "go on") return true;
      if (end instanceof Error) throw end;
      if (end === "refused") fail(journey.about, journey.last?.fault, journey.last?.endpoint);
      journey.results[item.index] = end.value;
      return false;
    });
  }

  /** Waits for the next round, or gives up. */
  async function rest<T>({ about, last, startedAt, round }: Journey<T>): Promise<void> {
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

  async function travel<T>(journey: Journey<T>): Promise<void> {
    while (journey.pending.length > 0) {
      if (lifetime.aborted) throw createError(`${name}: ${journey.about} given up: the source is closed`);
      if (await step(journey)) continue;
      conclude(journey);
      if (journey.pending.length === 0) return;
      await rest(journey);
      journey.tried.clear();
      journey.round += 1;
    }
  }

  return {
    async ask<T>(
      questions: readonly Question<T>[],
      about: string,
      { maxBatch = Number.POSITIVE_INFINITY } = {},
    ) {
      const results = new Array<T>(questions.length);
      const size = Math.min(maxBatch, Math.max(1, ...endpoints.map((endpoint) => endpoint.batchSize())));
      const start = { about, results, startedAt: clock.now(), round: 0, last: undefined };
      const groups = groupWork(startWork(questions), size);
      await Promise.all(groups.map((pending) => travel({ ...start, pending, tried: new Set() })));
      return results;
    },
  };
}
