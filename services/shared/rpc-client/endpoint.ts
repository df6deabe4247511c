import type { Clock } from "./clock.ts";
import type { Fault } from "./fault.ts";
import { createHealth, type Health, type HealthOptions } from "./health.ts";
import { createLatency, type Latency } from "./latency.ts";
import type { RpcCall, RpcReply, Transport } from "./transport.ts";

/** Something worth counting; hosts only, never a URL. */
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

/** The question that tells whether an endpoint is one of the chain that is configured. */
export interface EndpointCheck {
  readonly call: RpcCall;
  /** What is wrong, or undefined; `fatal` puts the endpoint aside. */
  read(reply: RpcReply): Fault | undefined;
}

/**
 * What an endpoint must agree with beside being of the right chain, learnt while running (a final block). Checked when an
 * endpoint first answers, when it was away, every few seconds of use, and within each request that `isUnbound`.
 */
export interface EndpointProof {
  /** The first call is the one that goes with requests; none = nothing is known yet. */
  calls(): readonly RpcCall[];
  /**
   * What is wrong, or undefined; `contradicts` puts the endpoint aside for a few seconds. `asked` are the calls that the
   * replies belong to: what `calls` returns may have moved on meanwhile.
   */
  read(replies: readonly (RpcReply | undefined)[], asked: readonly RpcCall[]): Fault | undefined;
  /**
   * Where `read` finds no contradiction (`found` is what it finds, such as `behind`): checks more, by further questions to
   * this endpoint alone. Not within requests.
   */
  further?(
    ask: (calls: readonly RpcCall[]) => Promise<RpcReply[]>,
    found: Fault | undefined,
  ): Promise<Fault | undefined>;
}

export interface EndpointOptions extends HealthOptions {
  readonly check: EndpointCheck;
  readonly proof?: EndpointProof | undefined;
  /** How long an endpoint that contradicts is left alone, and one that agrees is believed without asking. */
  readonly proofMs: number;
  /** Methods (or features of them) a node may do without; for any other one "not available" is a passing mood. */
  readonly optionalMethods: readonly string[];
  /** Names the chain in log lines. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly batchSize: number;
  /** Cool-down after a rate limit without Retry-After. */
  readonly rateCoolMs: number;
  /** How long an endpoint of no use is left alone before it is looked at again. */
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
  /** Calls a batch; shrinks when the provider refuses. */
  batchSize(): number;
  /** Like Transport.send, after the chain has been checked once; keeps health, latency and batch size. */
  send(calls: readonly RpcCall[], signal: AbortSignal): Promise<RpcReply[]>;
  /** Asks for the chain whether it is known or not: the probe of a half-open circuit. */
  probe(): Promise<void>;
  /** Whether it said lately that it does not offer one of the optional methods or features. */
  lacks(method: string): boolean;
  /** Why it was put aside. */
  asideReason(): string | undefined;
  /** How it contradicts what must hold, from when that was found until it agrees again. */
  contradiction(): string | undefined;
  /** The answers were good: closes the circuit. */
  approve(): void;
  /** An answer that came whole and still cannot be true counts as a failure. */
  blame(fault: Fault, method: string): void;
}

const LACK_MS = 600_000;

export function createEndpoint(options: EndpointOptions): Endpoint {
  const { transport, clock, check, fields, log, onEvent } = options;
  const host = transport.host;
  const health = createHealth(clock, options);
  const latency = createLatency();
  let batchSize = options.batchSize;
  const lacksUntil = new Map<string, number>();
  let verified = false;
  let verifying: Promise<Fault | undefined> | undefined;
  let verifiedAt = 0;
  let asideReason: string | undefined;
  let contradiction: string | undefined;

  function contradict(reason: string): void {
    verified = false;
    asideReason = reason;
    health.putAside(options.proofMs, true);
    // Found again every few seconds, said once.
    if (contradiction === reason) return;
    contradiction = reason;
    log("endpoint set aside: it contradicts the index", { host, ...fields, reason });
    onEvent({ kind: "aside", host, reason });
  }

  function putAside(reason: string): void {
    asideReason = reason;
    health.putAside(options.asideMs);
    verified = false;
    log("endpoint put aside", { host, ...fields, reason, forMs: options.asideMs });
    onEvent({ kind: "aside", host, reason });
  }

  function note(replies: readonly RpcReply[], method: string): void {
    const faults = new Set(replies.flatMap((reply) => (reply.ok ? [] : [reply.fault])));
    for (const fault of faults) {
      onEvent({ kind: "fault", host, fault: fault.kind, method, message: fault.message });
      if (fault.kind === "rate") {
        health.cool(fault.retryAfterMs ?? options.rateCoolMs);
        transport.gate.narrow();
      }
      if (fault.kind === "transient" && fault.retryAfterMs !== undefined) health.cool(fault.retryAfterMs);
      if (fault.kind === "fatal") putAside(fault.message);
    }
    const [first] = replies;
    if (first?.ok === false && replies.every((reply) => !reply.ok && reply.fault.kind === "transient"))
      fail(first.fault);
  }

  function fail({ message: reason }: Fault): void {
    if (!health.fail()) return;
    // Another node may answer behind the same URL when it comes back.
    if (proofCalls().length > 0) verified = false;
    log("endpoint fails, circuit opened", { host, ...fields, reason });
    onEvent({ kind: "circuit", host, open: true });
  }

  function recover(): void {
    transport.gate.widen();
    if (!health.succeed()) return;
    log("endpoint answers again, circuit closed", { host, ...fields });
    onEvent({ kind: "circuit", host, open: false });
  }

  function proofCalls(): readonly RpcCall[] {
    return options.proof?.calls() ?? [];
  }

  /** A request; one whose answers show no fork is believed of a node that proves its chain with them. */
  async function exchange(own: readonly RpcCall[], signal: AbortSignal): Promise<RpcReply[]> {
    const proof = batchSize > 1 && own.some((call) => call.isUnbound) ? proofCalls().slice(0, 1) : [];
    const replies = await request([...own, ...proof], signal);
    if (proof.length === 0) return replies;
    const fault = options.proof?.read(replies.slice(own.length), proof);
    if (fault === undefined) return replies.slice(0, own.length);
    if (fault.kind === "contradicts") contradict(fault.message);
    return own.map(() => ({ ok: false, fault }));
  }

  async function request(calls: readonly RpcCall[], signal: AbortSignal): Promise<RpcReply[]> {
    const method = calls[0]?.method ?? "";
    const startedAt = clock.now();
    const replies = await transport.send(calls, signal);
    const ms = clock.now() - startedAt;
    // A request given up in favour of a faster one took at least this long: without it the p95 could never rise.
    latency.add(latencyKey(calls), ms);
    if (signal.aborted) return replies;
    onEvent({
      kind: "request",
      host,
      method,
      calls: calls.length,
      ms,
      ok: replies.every((reply) => reply.ok),
    });
    note(replies, method);
    for (const [i, call] of calls.entries()) {
      const asked = call.feature ?? call.method;
      const reply = replies[i];
      const isLacking = reply?.ok === false && reply.fault.kind === "method";
      if (isLacking && options.optionalMethods.includes(asked)) lacksUntil.set(asked, clock.now() + LACK_MS);
    }
    const refused = replies.find((reply) => !reply.ok && reply.fault.kind === "batch");
    if (refused !== undefined && !refused.ok && calls.length > 1) {
      const named = refused.fault.limit ?? calls.length;
      batchSize = Math.max(
        1,
        Math.min(batchSize, named < calls.length ? named : Math.floor(calls.length / 2)),
      );
      log("endpoint takes smaller batches only", { host, ...fields, batchSize });
    }
    return replies;
  }

  // Shared by every caller that comes meanwhile, so it must not end with the first caller's request.
  async function verify(): Promise<Fault | undefined> {
    const asked = proofCalls();
    const [reply, ...proof] = await requestInParts([check.call, ...asked]);
    const fault =
      reply === undefined ? ({ kind: "transient", message: "no answer" } as const) : check.read(reply);
    // A reply that is a fault has been seen to already.
    if (fault?.kind === "fatal" && reply?.ok === true) putAside(fault.message);
    if (fault !== undefined) return fault;
    const contrary = await readProof(proof, asked);
    if (contrary?.kind === "contradicts") {
      contradict(contrary.message);
      return contrary;
    }
    if (contradiction !== undefined) log("endpoint agrees with the index again", { host, ...fields });
    contradiction = undefined;
    verified = true;
    verifiedAt = clock.now();
    asideReason = undefined;
    recover();
    return undefined;
  }

  async function readProof(
    replies: readonly RpcReply[],
    asked: readonly RpcCall[],
  ): Promise<Fault | undefined> {
    const { proof } = options;
    if (proof === undefined) return undefined;
    const found = replies.length === 0 ? undefined : proof.read(replies, asked);
    return found?.kind === "contradicts" ? found : proof.further?.(requestInParts, found);
  }

  async function requestInParts(calls: readonly RpcCall[]): Promise<RpcReply[]> {
    const replies: RpcReply[] = [];
    while (replies.length < calls.length) {
      const part = calls.slice(replies.length, replies.length + batchSize);
      const answered = await request(part, options.lifetime);
      const isTooLarge = answered.some((reply) => !reply.ok && reply.fault.kind === "batch");
      // Smaller parts are tried at once.
      if (isTooLarge && part.length > batchSize) continue;
      replies.push(...answered);
    }
    return replies;
  }

  /** Shared by all who ask meanwhile. */
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
    // Room for the proof.
    batchSize: () => (batchSize > 1 && proofCalls().length > 0 ? batchSize - 1 : batchSize),
    contradiction: () => contradiction,
    asideReason: () => asideReason,
    lacks: (method) => (lacksUntil.get(method) ?? 0) > clock.now(),
    async send(calls, signal) {
      if (!verified) {
        const fault = await verifyOnce();
        if (fault !== undefined) return calls.map(() => ({ ok: false, fault }));
      } else if (proofCalls().length > 0 && clock.now() - verifiedAt > options.proofMs) {
        // Beside the request: what it answers is tied to the chain by its hashes.
        verifiedAt = clock.now();
        void verifyOnce();
      }
      return exchange(calls, signal);
    },
    async probe() {
      await verifyOnce();
    },
    approve() {
      if (verified) recover();
    },
    blame(fault, method) {
      onEvent({ kind: "fault", host, fault: fault.kind, method, message: fault.message });
      log("untrustworthy answer", { host, ...fields, method, reason: fault.message });
      fail(fault);
    },
  };
}

/** Requests of like weight share their latencies: the method and the size of the batch to a power of two. */
export function latencyKey(calls: readonly RpcCall[]): string {
  return `${calls[calls.length - 1]?.method ?? ""}/${Math.ceil(Math.log2(calls.length + 1))}`;
}
