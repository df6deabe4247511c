import type { Clock } from "./clock.ts";
import { type Endpoint, latencyKey, type SourceEvent } from "./endpoint.ts";
import { type Fault, isRefusal } from "./fault.ts";
import { UpstreamError } from "./port.ts";
import type { RpcCall, RpcReply } from "./transport.ts";

export type Outcome<T> = { readonly value: T } | { readonly fault: Fault };

/** One question of one or more calls that have to be answered together by one endpoint. */
export interface Question<T> {
  readonly calls: readonly RpcCall[];
  /** Turns the replies into a value, or says what is wrong with them. */
  read(replies: readonly RpcReply[]): Outcome<T>;
  /**
   * Asked once every endpoint that is in service has refused (size, state, method, no such block), or after the
   * second deadline in a row: a value settles the question, an Error is thrown, undefined goes on trying.
   */
  conclude?(refusals: readonly Fault[]): { readonly value: T } | Error | undefined;
  /** Deadlines missed before `conclude` is asked; unset = never. */
  readonly maxTimeouts?: number;
}

export interface PoolOptions {
  readonly chainId: number;
  readonly endpoints: readonly Endpoint[];
  readonly clock: Clock;
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
  /** After this long a question that nobody answers becomes an UpstreamError. */
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

interface Work<T> {
  readonly question: Question<T>;
  readonly index: number;
  readonly refusals: Map<Endpoint, Fault>;
  timeouts: number;
}

interface Attempt {
  readonly endpoint: Endpoint;
  readonly replies: RpcReply[];
}

/** Fails over, waits, hedges and gives up: the policy between a question and several endpoints. */
export function createPool(options: PoolOptions): Pool {
  const { chainId, endpoints, clock, lifetime, onEvent } = options;
  const probing = new Set<Endpoint>();

  /** The first URL while it is healthy, then the fastest; unmeasured ones keep the order of configuration. */
  function listUsable(): Endpoint[] {
    const usable = endpoints.filter((endpoint) => endpoint.health.state().kind === "ready");
    for (const endpoint of endpoints)
      if (endpoint.health.state().kind === "probe") startProbe(endpoint, usable);
    const [primary, ...others] = usable;
    if (primary === undefined) return [];
    const speed = (endpoint: Endpoint) => endpoint.latency.smoothedMs() ?? 0;
    return primary === endpoints[0]
      ? [primary, ...others.sort((a, b) => speed(a) - speed(b))]
      : usable.sort((a, b) => speed(a) - speed(b));
  }

  /** A half-open circuit is tried by a small request of its own while others serve, by a real one if nobody does. */
  function startProbe(endpoint: Endpoint, usable: Endpoint[]): void {
    if (usable.length === 0) {
      usable.push(endpoint);
      return;
    }
    if (probing.has(endpoint)) return;
    probing.add(endpoint);
    void endpoint.probe().finally(() => probing.delete(endpoint));
  }

  async function attempt(
    endpoint: Endpoint,
    work: readonly Work<unknown>[],
    signal: AbortSignal,
  ): Promise<Attempt> {
    const groups = groupByBatch(work, endpoint.batchSize());
    const answered = await Promise.all(groups.map((calls) => endpoint.send(calls, signal)));
    return { endpoint, replies: answered.flat() };
  }

  /** Sends to one endpoint, and to a second one when the first takes longer than it nearly always does. */
  async function attemptHedged(
    first: Endpoint,
    work: readonly Work<unknown>[],
    spare: Endpoint | undefined,
  ): Promise<Attempt> {
    const aborts = [new AbortController(), new AbortController()] as const;
    const end = () => aborts.forEach((abort) => abort.abort());
    lifetime.addEventListener("abort", end, { once: true });
    try {
      const leading = attempt(first, work, aborts[0].signal);
      const key = latencyKey(groupByBatch(work, first.batchSize())[0] ?? []);
      const p95 = first.latency.p95(key);
      if (spare === undefined || p95 === undefined) return await leading;
      const cancelTimer = new AbortController();
      const timer = clock.sleep(Math.max(p95, options.minHedgeMs), cancelTimer.signal).then(() => undefined);
      const early = await Promise.race([leading, timer]);
      cancelTimer.abort();
      if (early !== undefined) return early;
      onEvent({ kind: "hedge", host: spare.host, method: work[0]?.question.calls[0]?.method ?? "" });
      const trailing = attempt(spare, work, aborts[1].signal);
      const winner = await Promise.race([leading, trailing]);
      if (winner.replies.some((reply) => reply.ok)) return winner;
      const other = await (winner.endpoint === first ? trailing : leading);
      return other.replies.some((reply) => reply.ok) ? other : winner;
    } finally {
      lifetime.removeEventListener("abort", end);
      end();
    }
  }

  function settle<T>(
    work: readonly Work<T>[],
    { endpoint, replies }: Attempt,
    results: T[],
  ): { left: Work<T>[]; last?: Fault } {
    let offset = 0;
    let last: Fault | undefined;
    let blamed: Fault | undefined;
    let good = 0;
    const left: Work<T>[] = [];
    for (const item of work) {
      const own = replies.slice(offset, offset + item.question.calls.length);
      offset += item.question.calls.length;
      const outcome = item.question.read(own);
      if ("value" in outcome) {
        results[item.index] = outcome.value;
        good += 1;
        continue;
      }
      last = outcome.fault;
      if (isRefusal(last.kind)) item.refusals.set(endpoint, last);
      if (last.timedOut === true) item.timeouts += 1;
      if (last.kind === "untrusted") blamed ??= last;
      left.push(item);
    }
    if (blamed !== undefined) endpoint.blame(blamed, work[0]?.question.calls[0]?.method ?? "");
    else if (good > 0 || last === undefined || last.kind !== "transient") endpoint.approve();
    return last === undefined ? { left } : { left, last };
  }

  /** Takes out the questions to which no endpoint in service has another answer. */
  function conclude<T>(work: readonly Work<T>[], results: T[], about: string): Work<T>[] {
    const inService = endpoints.filter(({ health }) => !["open", "aside"].includes(health.state().kind));
    return work.filter((item) => {
      const refusals = [...item.refusals.values()];
      const isTooBig = refusals.some((fault) => fault.kind === "range");
      const isExhausted =
        refusals.length > 0 && (isTooBig || inService.every((endpoint) => item.refusals.has(endpoint)));
      const isTooSlow = item.question.maxTimeouts !== undefined && item.timeouts >= item.question.maxTimeouts;
      if (!isExhausted && !isTooSlow) return true;
      const end = item.question.conclude?.(refusals);
      if (end instanceof Error) throw end;
      if (end !== undefined) {
        results[item.index] = end.value;
        return false;
      }
      if (isExhausted && refusals.every(({ kind }) => kind === "state" || kind === "method")) {
        throw describeFailure(about, refusals[refusals.length - 1], endpoints[0]);
      }
      item.refusals.clear();
      return true;
    });
  }

  function describeFailure(
    about: string,
    cause: Fault | undefined,
    endpoint: Endpoint | undefined,
  ): UpstreamError {
    const aside = endpoints.flatMap((each) => {
      const reason = each.health.state().kind === "aside" ? each.asideReason() : undefined;
      return reason === undefined ? [] : [`${each.host} put aside: ${reason}`];
    });
    const hosts = endpoint === undefined ? endpoints.map((each) => each.host).join(", ") : endpoint.host;
    const reasons = [cause?.message, ...aside].filter((reason) => reason !== undefined).join("; ");
    return new UpstreamError(
      `chain ${chainId}: ${about} failed at ${hosts}: ${reasons === "" ? "no answer" : reasons}`,
    );
  }

  async function run<T>(all: readonly Work<T>[], results: T[], about: string): Promise<void> {
    const startedAt = clock.now();
    let pending = [...all];
    let tried = new Set<Endpoint>();
    let last: { fault: Fault; endpoint: Endpoint } | undefined;
    for (let round = 0; pending.length > 0; ) {
      if (lifetime.aborted)
        throw new UpstreamError(`chain ${chainId}: ${about} given up: the source is closed`);
      const usable = listUsable();
      const next = usable.find(
        (endpoint) => !tried.has(endpoint) && pending.some((item) => !item.refusals.has(endpoint)),
      );
      if (next !== undefined) {
        tried.add(next);
        const batch = pending.filter((item) => !item.refusals.has(next));
        const spare = usable.find(
          (endpoint) => !tried.has(endpoint) && batch.every((item) => !item.refusals.has(endpoint)),
        );
        const sizeBefore = next.batchSize();
        const done = await attemptHedged(next, batch, spare);
        if (done.endpoint !== next) tried.add(done.endpoint);
        const rest = settle(batch, done, results);
        if (rest.last !== undefined) last = { fault: rest.last, endpoint: done.endpoint };
        const sent = new Set(batch);
        pending = [...pending.filter((item) => !sent.has(item)), ...rest.left];
        // Smaller batches were all it wanted: the same endpoint again, at once.
        if (rest.last?.kind === "batch" && next.batchSize() < sizeBefore) tried.delete(next);
        continue;
      }
      pending = conclude(pending, results, about);
      if (pending.length === 0) return;
      const states = endpoints.map((endpoint) => endpoint.health.state());
      const elapsedMs = clock.now() - startedAt;
      const limitMs =
        last?.fault.kind === "behind" ? Math.min(options.behindTotalMs, options.totalMs) : options.totalMs;
      if (elapsedMs >= limitMs || states.every((state) => state.kind === "aside")) {
        throw describeFailure(about, last?.fault, last?.endpoint);
      }
      const soonest =
        Math.min(...states.filter((state) => state.kind !== "aside").map((state) => state.until)) -
        clock.now();
      const backoff =
        Math.min(options.backoffMs * 2 ** round, options.maxBackoffMs) * (0.5 + clock.random() / 2);
      await clock.sleep(Math.min(Math.max(soonest, backoff), limitMs - elapsedMs), lifetime);
      tried = new Set();
      round += 1;
    }
  }

  return {
    async ask<T>(
      questions: readonly Question<T>[],
      about: string,
      { maxBatch = Number.POSITIVE_INFINITY } = {},
    ) {
      const results = new Array<T>(questions.length);
      const work = questions.map(
        (question, index): Work<T> => ({ question, index, refusals: new Map(), timeouts: 0 }),
      );
      const size = Math.min(maxBatch, Math.max(1, ...endpoints.map((endpoint) => endpoint.batchSize())));
      const chunks: Work<T>[][] = [];
      let calls = 0;
      for (const item of work) {
        const chunk = chunks[chunks.length - 1];
        if (chunk === undefined || calls + item.question.calls.length > size) {
          chunks.push([item]);
          calls = item.question.calls.length;
        } else {
          chunk.push(item);
          calls += item.question.calls.length;
        }
      }
      await Promise.all(chunks.map((chunk) => run(chunk, results, about)));
      return results;
    },
  };
}

/** The calls of the questions in requests of at most `size`; a question is torn apart only if it alone is larger. */
function groupByBatch(work: readonly Work<unknown>[], size: number): RpcCall[][] {
  const groups: RpcCall[][] = [];
  for (const { question } of work) {
    const group = groups[groups.length - 1];
    if (group !== undefined && group.length + question.calls.length <= size) group.push(...question.calls);
    else if (question.calls.length <= size) groups.push([...question.calls]);
    else for (const call of question.calls) groups.push([call]);
  }
  return groups;
}
