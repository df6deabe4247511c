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

export interface EndpointOptions extends HealthOptions {
  readonly check: EndpointCheck;
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
  let asideReason: string | undefined;

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
    log("endpoint fails, circuit opened", { host, ...fields, reason });
    onEvent({ kind: "circuit", host, open: true });
  }

  function recover(): void {
    transport.gate.widen();
    if (!health.succeed()) return;
    log("endpoint answers again, circuit closed", { host, ...fields });
    onEvent({ kind: "circuit", host, open: false });
  }

  async function exchange(calls: readonly RpcCall[], signal: AbortSignal): Promise<RpcReply[]> {
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
    const [reply] = await exchange([check.call], options.lifetime);
    const fault =
      reply === undefined ? ({ kind: "transient", message: "no answer" } as const) : check.read(reply);
    // A reply that is a fault has been seen to already.
    if (fault?.kind === "fatal" && reply?.ok === true) putAside(fault.message);
    if (fault !== undefined) return fault;
    verified = true;
    asideReason = undefined;
    recover();
    return undefined;
  }

  return {
    host,
    health,
    latency,
    batchSize: () => batchSize,
    asideReason: () => asideReason,
    lacks: (method) => (lacksUntil.get(method) ?? 0) > clock.now(),
    async send(calls, signal) {
      if (!verified) {
        verifying ??= verify().finally(() => {
          verifying = undefined;
        });
        const fault = await verifying;
        if (fault !== undefined) return calls.map(() => ({ ok: false, fault }));
      }
      return exchange(calls, signal);
    },
    async probe() {
      await verify();
    },
    approve: recover,
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
