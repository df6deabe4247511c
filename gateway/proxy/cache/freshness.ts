import type { HeadEpoch } from "../heads/head-epochs.ts";
import type { UpstreamResponse } from "../transport/response-receiver.ts";

/** When a response was requested of its service, and under which head of its chain. */
export interface RequestMoment {
  /** Monotonic milliseconds. */
  readonly requestedAtMs: number;
  /** Of the chain that it is about; undefined where heads do not tell. */
  readonly epoch: HeadEpoch | undefined;
  /** The epoch's count then. */
  readonly epochCount: number;
}

/** How long a response may be sent again: until its time is over or another head is told, whichever comes first. */
export interface Freshness extends RequestMoment {
  /** Monotonic milliseconds. */
  readonly freshUntilMs: number;
  /** For how long it was fresh, where it is of an older head than the one told; else 0. */
  readonly behindMs: number;
}

/**
 * The first lifetime of a response that is behind the told head: its replica sees that head within some
 * milliseconds. It doubles with each that is still behind, so that one that stays behind is not asked all the time.
 */
const BEHIND_MS = 50;

export function momentOf(requestedAtMs: number, epoch: HeadEpoch | undefined): RequestMoment {
  return { requestedAtMs, epoch, epochCount: epoch?.count ?? 0 };
}

export function isFresh({ freshUntilMs, epoch, epochCount }: Freshness, nowMs: number): boolean {
  return nowMs < freshUntilMs && (epoch === undefined || epoch.count === epochCount);
}

/** Whether the response is of a later head than another one: that must not replace it. */
export function isLater(a: RequestMoment, b: RequestMoment): boolean {
  return a.epoch !== undefined && a.epoch === b.epoch && a.epochCount > b.epochCount;
}

/** `before`: of the response that this one replaces. Undefined = it must not be cached. */
export function freshnessOf(
  headers: UpstreamResponse["headers"],
  moment: RequestMoment,
  before: Freshness | undefined,
): Freshness | undefined {
  const declaredMs = freshMsOf(headers["cache-control"]);
  if (declaredMs === 0) return undefined;
  const { requestedAtMs } = moment;
  // About a final block: no head changes it.
  if (isImmutable(headers["cache-control"])) {
    const freshUntilMs = requestedAtMs + declaredMs;
    return { requestedAtMs, epoch: undefined, epochCount: 0, freshUntilMs, behindMs: 0 };
  }
  if (!isBehind(headers, moment)) {
    return { ...moment, freshUntilMs: requestedAtMs + declaredMs, behindMs: 0 };
  }
  const isAgain = before?.epoch === moment.epoch && before?.epochCount === moment.epochCount;
  const pauseMs = isAgain ? Math.max(BEHIND_MS, 2 * before.behindMs) : BEHIND_MS;
  const behindMs = Math.min(declaredMs, pauseMs);
  return { ...moment, freshUntilMs: requestedAtMs + behindMs, behindMs };
}

/** Whether a replica answered from a head before the one that another one has told, or of another branch. */
function isBehind(headers: UpstreamResponse["headers"], { epoch, epochCount }: RequestMoment): boolean {
  const hash = headers["x-data-block-hash"];
  // Where another head was told meanwhile, the response is stale anyway.
  if (epoch === undefined || hash === undefined || epochCount === 0 || epoch.count !== epochCount)
    return false;
  // An answer about an earlier block names the head beside it.
  const head = headers["x-data-head"];
  if (head !== undefined) return Number(head) < epoch.block;
  return hash !== epoch.hash && Number(headers["x-data-block"]) <= epoch.block;
}

/** RFC 8246. */
function isImmutable(cacheControl: string | undefined): boolean {
  return cacheControl?.includes("immutable") === true;
}

/**
 * Milliseconds for which a response is fresh by its Cache-Control (RFC 9111); 0 = it must not be cached. `private` does
 * not forbid it here: the gateway acts for the origin, and returns tables only to clients that passed its checks.
 */
export function freshMsOf(cacheControl: string | undefined): number {
  if (cacheControl === undefined) return 0;
  // Consecutive responses have the same value.
  if (cacheControl !== lastText) {
    lastText = cacheControl;
    lastMs = parseFreshMs(cacheControl);
  }
  return lastMs;
}

let lastText = "";
let lastMs = 0;

function parseFreshMs(cacheControl: string): number {
  let seconds = 0;
  for (const directive of cacheControl.toLowerCase().split(",")) {
    const [name = "", value = ""] = directive.split("=").map((part) => part.trim());
    if (name === "no-store" || name === "no-cache") return 0;
    if (name === "max-age" && /^\d{1,9}$/.test(value)) seconds = Number(value);
  }
  return seconds * 1000;
}
