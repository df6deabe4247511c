import type { Clock } from "./clock.ts";
import type { Fault } from "./fault.ts";
import { createHealth, type Health, type HealthOptions } from "./health.ts";
import { createLatency, type Latency } from "./latency.ts";
import type { RpcCall, RpcResponse, Transport } from "./transport.ts";

/** An event for metrics; hosts only, never a URL. */
export type SourceEvent =
  | {
      readonly kind: "request";
      readonly host: string;
      readonly method: string;
      readonly calls: number;
      readonly ms: number;
      readonly ok: boolean;
    }
  | {
      readonly kind: "fault";
      readonly host: string;
      readonly fault: Fault["kind"];
      readonly method: string;
      readonly message: string;
    }
  /** A range of eth_getLogs that was answered, or refused by every endpoint for its size. */
  | { readonly kind: "range"; readonly blocks: number; readonly ok: boolean }
  | { readonly kind: "hedge"; readonly host: string; readonly method: string }
  | { readonly kind: "circuit"; readonly host: string; readonly open: boolean }
  | { readonly kind: "aside"; readonly host: string; readonly reason: string };

export type SourceLog = (message: string, fields: Readonly<Record<string, unknown>>) => void;

/** The call that shows whether an endpoint is of the configured chain. */
export interface IdentityCheck {
  readonly call: RpcCall;
  /** The fault, or undefined; `fatal` sets the endpoint aside. */
  read(response: RpcResponse): Fault | undefined;
}

/**
 * What an endpoint of the right chain must agree with, learnt while running (a final block). Checked when an endpoint
 * first responds, when it returns, every few seconds of use unless its other responses have shown the same
 * (`recordChain`), and in each batch with a call that `needsConsistencyCheck`.
 */
export interface ConsistencyCheck {
  /** The first call is the one that batches carry; none = nothing to check yet. */
  calls(): readonly RpcCall[];
  /**
   * The fault, or undefined; `contradicts` sets the endpoint aside for a few seconds. `sent` are the calls of these
   * responses: `calls` may return others by now.
   */
  read(responses: readonly (RpcResponse | undefined)[], sent: readonly RpcCall[]): Fault | undefined;
  /**
   * Called where `read` finds no contradiction, with its fault (such as `behind`) if any: checks more, with further
   * requests to this endpoint alone. Not called within batches.
   */
  checkFurther?(
    request: (calls: readonly RpcCall[]) => Promise<RpcResponse[]>,
    fault: Fault | undefined,
  ): Promise<Fault | undefined>;
}

export interface EndpointOptions extends HealthOptions {
  readonly identityCheck: IdentityCheck;
  readonly consistencyCheck?: ConsistencyCheck | undefined;
  /** How long an endpoint that contradicts is set aside, and one that agrees is trusted without a check. */
  readonly consistencyCheckMs: number;
  /** Methods (or features of them) that a node may not support; for any other one "not available" is temporary. */
  readonly optionalMethods: readonly string[];
  /** Names the chain in log lines. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly batchSize: number;
  /** Cool-down after a rate limit without Retry-After. */
  readonly rateCoolMs: number;
  /** How long an unusable endpoint is set aside before it is checked again. */
  readonly asideMs: number;
  /** Aborts when the source is closed. */
  readonly lifetime: AbortSignal;
  readonly log: SourceLog;
  readonly onEvent: (event: SourceEvent) => void;
}

export interface Endpoint {
  readonly host: string;
  readonly health: Health;
  readonly latency: Latency;
  /** Calls per batch; shrinks when the provider refuses. */
  batchSize(): number;
  /** Like Transport.send, after one check of the chain; updates health, latency and batch size. */
  send(calls: readonly RpcCall[], signal: AbortSignal): Promise<RpcResponse[]>;
  /** Runs the checks: the probe of a half-open circuit. */
  probe(): Promise<void>;
  /** Whether it recently reported an optional method or feature as not supported. */
  isUnsupported(method: string): boolean;
  /** Why it was set aside. */
  asideReason(): string | undefined;
  /** How it contradicts the consistency check, until it agrees again. */
  contradiction(): string | undefined;
  /** Closes the circuit. */
  recordGoodResponse(): void;
  /**
   * Another response has shown what the consistency check asks for: it is not due for its whole time from now on, though
   * in a row of such responses once a minute. With false it named another block, or none: then only the check itself
   * counts, until it has been made.
   */
  recordChain(isShown: boolean): void;
  /** Counts a complete response that cannot be true as a failure. */
  recordUntrusted(fault: Fault, method: string): void;
}

const UNSUPPORTED_MS = 600_000;
/** Batches narrowed by a rate limit are doubled again after this long without another. */
const NARROWED_MS = 30_000;
/** How soon an endpoint that contradicts the index is asked again. */
const CONTRADICTED_MS = 5_000;
/** How often the consistency check is made although other responses stand for it: they cannot show all that it does. */
const CHECK_AT_LEAST_MS = 60_000;

export function createEndpoint(options: EndpointOptions): Endpoint {
  const { transport, clock, identityCheck, fields, log, onEvent } = options;
  const host = transport.host;
  const health = createHealth(clock, options);
  const latency = createLatency();
  /** After a check, so that the next one is made in time. */
  const shownForMs = CHECK_AT_LEAST_MS - options.consistencyCheckMs;
  let batchSize = options.batchSize;
  /** Providers count the calls of a batch: one with more than they allow a second would be refused for ever. */
  let narrowSize = Number.POSITIVE_INFINITY;
  let narrowedAt = 0;
  const unsupportedUntil = new Map<string, number>();
  let verified = false;
  let verifying: Promise<Fault | undefined> | undefined;
  /** When it last showed its chain, by whatever response. */
  let verifiedAt = 0;
  /** When it was last asked for that. */
  let checkedAt = 0;
  let isDoubted = false;
  let asideReason: string | undefined;
  let contradiction: string | undefined;

  function contradict(reason: string): void {
    verified = false;
    asideReason = reason;
    health.setAside(Math.min(options.consistencyCheckMs, CONTRADICTED_MS), true);
    // Detected every few seconds, logged once.
    if (contradiction === reason) return;
    contradiction = reason;
    log("endpoint set aside: it contradicts the index", { host, ...fields, reason });
    onEvent({ kind: "aside", host, reason });
  }

  function setAside(reason: string): void {
    asideReason = reason;
    health.setAside(options.asideMs);
    verified = false;
    log("endpoint set aside", { host, ...fields, reason, forMs: options.asideMs });
    onEvent({ kind: "aside", host, reason });
  }

  function sizeNow(): number {
    if (narrowSize < batchSize && clock.now() - narrowedAt > NARROWED_MS) {
      narrowSize *= 2;
      narrowedAt = clock.now();
    }
    return Math.min(batchSize, narrowSize);
  }

  function recordFaults(responses: readonly RpcResponse[], method: string): void {
    const faults = new Set(responses.flatMap((response) => (response.ok ? [] : [response.fault])));
    for (const fault of faults) {
      onEvent({ kind: "fault", host, fault: fault.kind, method, message: fault.message });
      if (fault.kind === "rate") {
        health.cool(fault.retryAfterMs ?? options.rateCoolMs);
        transport.concurrency.decrease();
        if (responses.length > 1) {
          narrowSize = Math.max(1, Math.floor(Math.min(narrowSize, responses.length) / 2));
          narrowedAt = clock.now();
        }
      }
      if (fault.kind === "transient" && fault.retryAfterMs !== undefined) health.cool(fault.retryAfterMs);
      if (fault.kind === "fatal") setAside(fault.message);
    }
    const [first] = responses;
    if (
      first?.ok === false &&
      responses.every((response) => !response.ok && response.fault.kind === "transient")
    )
      fail(first.fault);
  }

  function fail({ message: reason }: Fault): void {
    if (!health.fail()) return;
    // Another node may respond at the same URL when it comes back.
    if (consistencyCalls().length > 0) verified = false;
    log("endpoint fails, circuit opened", { host, ...fields, reason });
    onEvent({ kind: "circuit", host, open: true });
  }

  function recover(): void {
    transport.concurrency.increase();
    if (!health.succeed()) return;
    log("endpoint responds again, circuit closed", { host, ...fields });
    onEvent({ kind: "circuit", host, open: false });
  }

  function consistencyCalls(): readonly RpcCall[] {
    return options.consistencyCheck?.calls() ?? [];
  }

  /** A request; calls whose responses show no fork get a call of the consistency check in their batch. */
  async function exchange(own: readonly RpcCall[], signal: AbortSignal): Promise<RpcResponse[]> {
    const isCheckNeeded = sizeNow() > 1 && own.some((call) => call.needsConsistencyCheck);
    const check = isCheckNeeded ? consistencyCalls().slice(0, 1) : [];
    const responses = await request([...own, ...check], signal);
    if (check.length === 0) return responses;
    const fault = options.consistencyCheck?.read(responses.slice(own.length), check);
    if (fault === undefined) return responses.slice(0, own.length);
    if (fault.kind === "contradicts") contradict(fault.message);
    return own.map(() => ({ ok: false, fault }));
  }

  async function request(calls: readonly RpcCall[], signal: AbortSignal): Promise<RpcResponse[]> {
    const method = calls[0]?.method ?? "";
    const startedAt = clock.now();
    const responses = await transport.send(calls, signal);
    const ms = clock.now() - startedAt;
    // A hedged request that was aborted took at least this long: without it the p95 could never rise.
    latency.add(latencyKey(calls), ms);
    if (signal.aborted) return responses;
    onEvent({
      kind: "request",
      host,
      method,
      calls: calls.length,
      ms,
      ok: responses.every((response) => response.ok),
    });
    recordFaults(responses, method);
    for (const [i, call] of calls.entries()) {
      const feature = call.feature ?? call.method;
      const response = responses[i];
      const isUnsupported = response?.ok === false && response.fault.kind === "method";
      if (isUnsupported && options.optionalMethods.includes(feature))
        unsupportedUntil.set(feature, clock.now() + UNSUPPORTED_MS);
    }
    const refused = responses.find((response) => !response.ok && response.fault.kind === "batch");
    if (refused !== undefined && !refused.ok && calls.length > 1) {
      const named = refused.fault.limit ?? calls.length;
      batchSize = Math.max(
        1,
        Math.min(batchSize, named < calls.length ? named : Math.floor(calls.length / 2)),
      );
      log("endpoint takes smaller batches only", { host, ...fields, batchSize });
    }
    return responses;
  }

  // Shared by concurrent callers: it must not abort with the first caller's request.
  async function verify(): Promise<Fault | undefined> {
    const sent = consistencyCalls();
    const [response, ...consistency] = await requestInBatches([identityCheck.call, ...sent]);
    const fault =
      response === undefined
        ? ({ kind: "transient", message: "no response" } as const)
        : identityCheck.read(response);
    // A response that is a fault was handled by recordFaults.
    if (fault?.kind === "fatal" && response?.ok === true) setAside(fault.message);
    if (fault !== undefined) return fault;
    const inconsistency = await checkConsistency(consistency, sent);
    if (inconsistency?.kind === "contradicts") {
      contradict(inconsistency.message);
      return inconsistency;
    }
    if (contradiction !== undefined) log("endpoint agrees with the index again", { host, ...fields });
    contradiction = undefined;
    verified = true;
    verifiedAt = checkedAt = clock.now();
    isDoubted = false;
    asideReason = undefined;
    recover();
    return undefined;
  }

  /** In use: the last final block alone tells that it is still the same chain. */
  async function checkAgain(): Promise<void> {
    const calls = consistencyCalls().slice(0, 1);
    isDoubted = false;
    const responses = await requestInBatches(calls);
    if (responses.some(({ ok }) => !ok)) isDoubted = true;
    const found = await checkConsistency(responses, calls);
    if (found?.kind === "contradicts") contradict(found.message);
  }

  async function checkConsistency(
    responses: readonly RpcResponse[],
    calls: readonly RpcCall[],
  ): Promise<Fault | undefined> {
    const { consistencyCheck } = options;
    if (consistencyCheck === undefined) return undefined;
    const found = responses.length === 0 ? undefined : consistencyCheck.read(responses, calls);
    return found?.kind === "contradicts" ? found : consistencyCheck.checkFurther?.(requestInBatches, found);
  }

  async function requestInBatches(calls: readonly RpcCall[]): Promise<RpcResponse[]> {
    const responses: RpcResponse[] = [];
    while (responses.length < calls.length) {
      const part = calls.slice(responses.length, responses.length + sizeNow());
      const answered = await request(part, options.lifetime);
      const isTooLarge = answered.some((response) => !response.ok && response.fault.kind === "batch");
      // Retried at once with smaller batches.
      if (isTooLarge && part.length > batchSize) continue;
      responses.push(...answered);
    }
    return responses;
  }

  /** Shared by concurrent callers. */
  function verifyOnce(): Promise<Fault | undefined> {
    verifying ??= verify().finally(() => {
      verifying = undefined;
    });
    return verifying;
  }

  return {
    host,
    health,
    latency,
    // One less: room for a call of the consistency check.
    batchSize: () => (sizeNow() > 1 && consistencyCalls().length > 0 ? sizeNow() - 1 : sizeNow()),
    contradiction: () => contradiction,
    asideReason: () => asideReason,
    isUnsupported: (method) => (unsupportedUntil.get(method) ?? 0) > clock.now(),
    async send(calls, signal) {
      if (!verified) {
        const fault = await verifyOnce();
        if (fault !== undefined) return calls.map(() => ({ ok: false, fault }));
      } else if (consistencyCalls().length > 0 && clock.now() - verifiedAt > options.consistencyCheckMs) {
        // Concurrent with the request: its response is bound to the chain by hashes.
        verifiedAt = checkedAt = clock.now();
        void checkAgain();
      }
      return exchange(calls, signal);
    },
    async probe() {
      await verifyOnce();
    },
    recordGoodResponse() {
      if (verified) recover();
    },
    recordChain(isShown) {
      if (!isShown) isDoubted = true;
      else if (verified && !isDoubted)
        verifiedAt = Math.max(verifiedAt, Math.min(clock.now(), checkedAt + shownForMs));
    },
    recordUntrusted(fault, method) {
      onEvent({ kind: "fault", host, fault: fault.kind, method, message: fault.message });
      log("untrusted response", { host, ...fields, method, reason: fault.message });
      fail(fault);
    },
  };
}

/** Requests of similar cost share a key: the method and the batch size rounded up to a power of two. */
export function latencyKey(calls: readonly RpcCall[]): string {
  return `${calls[calls.length - 1]?.method ?? ""}/${Math.ceil(Math.log2(calls.length + 1))}`;
}
