import { formatCount } from "../ingest-status/progress-line.ts";
import type { SourceEvent } from "../rpc-client/endpoint/endpoint.ts";
import type { FaultKind } from "../rpc-client/endpoint/fault.ts";

/** Faults that mean the endpoint cannot be used now; any other response shows that it works. */
const BAD: ReadonlySet<FaultKind> = new Set(["transient", "rate", "fatal", "untrusted"]);
/** An endpoint that has only failed for this long counts as down. */
const DOWN_AFTER_MS = 10_000;
const REPORT_EVERY_MS = 30_000;

interface HostState {
  calls: number;
  limited: number;
  /** Start of the current failures; undefined while it works. */
  failingSinceMs: number | undefined;
  reason: string;
  /** Its circuit is open, or it was set aside: it counts as down at once. */
  isOut: boolean;
}

/** The health of one chain's RPC endpoints, from the events of its sources. Times in milliseconds. */
export class EndpointMonitor {
  readonly #hosts = new Map<string, HostState>();
  #refusedRanges = 0;
  #rangeBlocks: number | undefined;
  #reported = { text: "", ms: Number.NEGATIVE_INFINITY };
  #lastMeasurement = { count: 0, ms: 0 };

  /** All these hosts must fail before the chain has no endpoint. */
  constructor(hosts: readonly string[]) {
    for (const host of hosts) this.#stateOf(host);
  }

  #stateOf(host: string): HostState {
    let state = this.#hosts.get(host);
    if (state === undefined) {
      state = { calls: 0, limited: 0, failingSinceMs: undefined, reason: "", isOut: false };
      this.#hosts.set(host, state);
    }
    return state;
  }

  onEvent(event: SourceEvent, nowMs: number): void {
    if (event.kind === "range") {
      if (!event.ok) this.#refusedRanges += 1;
      this.#rangeBlocks = event.ok ? event.blocks : this.#rangeBlocks;
      return;
    }
    const state = this.#stateOf(event.host);
    if (event.kind === "request") {
      state.calls += event.calls;
      if (event.ok) markWorking(state);
    } else if (event.kind === "fault") {
      if (event.fault === "rate") state.limited += 1;
      if (BAD.has(event.fault)) {
        state.failingSinceMs ??= nowMs;
        state.reason = event.message;
      } else markWorking(state);
    } else if (event.kind === "circuit") {
      if (event.open) {
        state.failingSinceMs ??= nowMs;
        state.isOut = true;
      } else markWorking(state);
    } else if (event.kind === "aside") {
      state.failingSinceMs ??= nowMs;
      state.reason = event.reason;
      state.isOut = true;
    }
  }

  /** Why no endpoint can be used, with the hosts; undefined while one may work. */
  describeOutage(nowMs: number): { readonly why: string; readonly sinceMs: number } | undefined {
    const states = [...this.#hosts];
    const isDown = ([, { failingSinceMs, isOut }]: [string, HostState]) =>
      failingSinceMs !== undefined && (isOut || nowMs - failingSinceMs >= DOWN_AFTER_MS);
    if (states.length === 0 || !states.every(isDown)) return undefined;
    const reasons = states.map(([host, { reason }]) => `${host}${reason === "" ? "" : ` (${reason})`}`);
    return {
      why: `No RPC endpoint can be used: ${reasons.join("; ")}`,
      sinceMs: Math.max(...states.map(([, { failingSinceMs }]) => failingSinceMs ?? nowMs)),
    };
  }

  /** A line about refused ranges and rate limits if they changed; at most one every 30 seconds. */
  takeReport(nowMs: number): string | undefined {
    if (nowMs - this.#reported.ms < REPORT_EVERY_MS) return undefined;
    const limited = [...this.#hosts].filter(([, state]) => state.limited > 0);
    const ranges = this.#refusedRanges === 0 ? [] : [this.#describeRanges()];
    const hosts = limited.map(
      ([host, state]) => `${host}: ${formatCount(state.limited)} × 429 in ${formatCount(state.calls)} calls`,
    );
    // A higher number of calls alone is no change.
    const key = JSON.stringify([limited.map(([host, state]) => [host, state.limited]), this.#refusedRanges]);
    if (hosts.length + ranges.length === 0 || key === this.#reported.text) return undefined;
    this.#reported = { text: key, ms: nowMs };
    const names = limited.length > 0 ? hosts : [[...this.#hosts.keys()].join(", ")];
    return [...names, ...ranges].join(" · ");
  }

  #describeRanges(): string {
    const refused = `${formatCount(this.#refusedRanges)} ranges of eth_getLogs refused`;
    return this.#rangeBlocks === undefined
      ? refused
      : `${refused}, cut to ${formatCount(this.#rangeBlocks)} blocks`;
  }

  /** Calls a second to all endpoints since the last measurement. */
  measureCallRate(nowMs: number): number {
    const count = [...this.#hosts.values()].reduce((sum, { calls }) => sum + calls, 0);
    const { count: before, ms } = this.#lastMeasurement;
    this.#lastMeasurement = { count, ms: nowMs };
    return nowMs > ms ? ((count - before) * 1_000) / (nowMs - ms) : 0;
  }

  /** Hosts by number of calls, the busiest first. */
  get hosts(): readonly string[] {
    return [...this.#hosts].sort(([, a], [, b]) => b.calls - a.calls).map(([host]) => host);
  }
}

function markWorking(state: HostState): void {
  state.failingSinceMs = undefined;
  state.reason = "";
  state.isOut = false;
}

/** The hosts of RPC URLs, as sources name them in their events; websockets only wake. */
export function hostsOf(urls: readonly string[]): string[] {
  const http = urls.filter((url) => /^https?:/i.test(url) && URL.canParse(url));
  return [...new Set(http.map((url) => new URL(url).host))];
}
