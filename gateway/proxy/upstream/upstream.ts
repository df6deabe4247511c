import type { Family } from "../../../services/shared/contract/endpoint.ts";
import type { PeerState } from "../../../services/shared/grpc/types.ts";
import { type Clock, systemClock } from "../../request/clock.ts";
import { type Breaker, createBreaker } from "./breaker.ts";

/**
 * What a replica last reported, `unreachable` when it could not be reached several times in a row, `unknown` before the
 * first probe.
 */
export type UpstreamState = PeerState;

/**
 * Failures in a row, of probes and of connections for requests, after which a replica counts as unreachable. HAProxy and
 * Envoy count to three, too: one late answer of a busy machine is no outage.
 */
const FAILURES_TO_UNREACHABLE = 3;
/**
 * Requests at once that are sent to a replica that is taken out, where no other is left: enough to find out, and few
 * enough that one which never answers holds up no more than these. One that is not yet known has done nothing wrong.
 */
const MAX_TRIAL_REQUESTS = 16;

/** One replica of a service as the gateway sees it. */
export interface Upstream {
  /** family#position: what logs and metrics call it; addresses stay in the configuration. */
  readonly name: string;
  readonly family: Family;
  readonly url: string;
  /** Changed by its group only. */
  state: UpstreamState;
  /** Since it was last reached. */
  failures: number;
  inFlight: number;
  readonly breaker: Breaker;
}

/** Called with every change of state; `error` is why a replica could not be reached. */
export type OnStateChange = (
  upstream: Upstream,
  change: { readonly before: UpstreamState; readonly error?: unknown },
) => void;

/** The replicas of one service. */
export interface UpstreamGroup {
  readonly family: Family;
  readonly members: readonly Upstream[];
  /**
   * The serving replica with the fewest requests in flight whose breaker lets one through, other than `except`; ties take
   * turns. Without one, the least bad replica is tried, unless it reports itself that it does not serve.
   */
  choose(except?: Upstream): Upstream | undefined;
  /** Records what a replica reports; effective at once. */
  report(upstream: Upstream, state: "serving" | "not_serving"): void;
  /** Records that a probe, or the connection for a request, did not reach it. */
  reportFailure(upstream: Upstream, error: unknown): void;
  /** Records a response to a request: the replica is reachable, whatever probes say. */
  reportResponse(upstream: Upstream): void;
}

export interface UpstreamGroupOptions {
  readonly family: Family;
  readonly urls: readonly string[];
  readonly onChange?: OnStateChange;
  readonly clock?: Clock;
}

export function createUpstreamGroup(options: UpstreamGroupOptions): UpstreamGroup {
  const { family, urls, onChange, clock = systemClock } = options;
  const members: readonly Upstream[] = urls.map((url, position) => ({
    name: `${family}#${position}`,
    family,
    url,
    state: "unknown",
    failures: 0,
    inFlight: 0,
    breaker: createBreaker({ clock }),
  }));
  let turn = 0;

  const change = (upstream: Upstream, state: UpstreamState, error?: unknown): void => {
    const before = upstream.state;
    if (before === state) return;
    upstream.state = state;
    // After an outage it is another process, without the failures of the old one.
    if (before === "unreachable") upstream.breaker.halfOpen();
    onChange?.(upstream, { before, error });
  };

  /** Of those taken out: one that serves but whose breaker is open, then one not yet known, then the least often missed. */
  const leastBad = (except: Upstream | undefined): Upstream | undefined => {
    let best: Upstream | undefined;
    for (const member of members) {
      if (member === except || member.state === "not_serving") continue;
      if (member.state !== "unknown" && member.inFlight >= MAX_TRIAL_REQUESTS) continue;
      if (best === undefined || badness(member) < badness(best)) best = member;
    }
    return best;
  };

  return {
    family,
    members,
    choose(except) {
      let best: Upstream | undefined;
      turn = (turn + 1) % Math.max(1, members.length);
      for (let step = 0; step < members.length; step += 1) {
        const member = members[(turn + step) % members.length];
        if (!member || member === except || member.state !== "serving" || !member.breaker.allows()) continue;
        if (!best || member.inFlight < best.inFlight) best = member;
      }
      return best ?? leastBad(except);
    },

    report(upstream, state) {
      upstream.failures = 0;
      change(upstream, state);
    },
    reportFailure(upstream, error) {
      upstream.failures += 1;
      const isOut = upstream.state === "unknown" || upstream.failures >= FAILURES_TO_UNREACHABLE;
      if (isOut) change(upstream, "unreachable", error);
    },
    reportResponse(upstream) {
      if (upstream.failures === 0) return;
      upstream.failures = 0;
      if (upstream.state === "unreachable") change(upstream, "serving");
    },
  };
}

const RANKS: Readonly<Record<UpstreamState, number>> = {
  serving: 0,
  unknown: 1,
  unreachable: 2,
  not_serving: 3,
};

/** Requests in flight decide among those that have been missed as often. */
function badness({ state, failures, inFlight }: Upstream): number {
  return (RANKS[state] * 1_000 + Math.min(failures, 999)) * 1_000 + inFlight;
}
