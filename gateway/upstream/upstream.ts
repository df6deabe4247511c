import type { Family } from "../../services/shared/contract/endpoint.ts";
import type { PeerState } from "../../services/shared/rpc/types.ts";
import { type Clock, systemClock } from "../clock.ts";
import { type Breaker, createBreaker } from "./breaker.ts";

/** What the last probe said; `unknown` before the first. */
export type UpstreamState = PeerState;

/** One replica of a service as the gateway sees it. */
export interface Upstream {
  /** family#position: what logs and metrics call it; addresses stay in the configuration. */
  readonly name: string;
  readonly family: Family;
  readonly url: string;
  /** Changed by report only. */
  state: UpstreamState;
  inFlight: number;
  readonly breaker: Breaker;
}

/** Told of every change of state; `error` is why a replica could not be reached. */
export type OnStateChange = (
  upstream: Upstream,
  change: { readonly before: UpstreamState; readonly error?: unknown },
) => void;

export interface UpstreamAddress {
  readonly url: string;
  readonly grpc: string;
}

/** The replicas of one service. */
export interface UpstreamGroup {
  readonly family: Family;
  readonly members: readonly Upstream[];
  /** The serving replica with the fewest requests in flight whose breaker lets one through, other than `except`; ties take turns. */
  choose(except?: Upstream): Upstream | undefined;
  /** Notes what a probe, or a request that found nobody there, has learnt. */
  report(upstream: Upstream, state: UpstreamState, error?: unknown): void;
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
    inFlight: 0,
    breaker: createBreaker({ clock }),
  }));
  let turn = 0;

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
      return best;
    },

    report(upstream, state, error) {
      const before = upstream.state;
      if (before === state) return;
      upstream.state = state;
      // What came back after it was gone is another process, and its failures are its own.
      if (before === "unreachable") upstream.breaker.reset();
      onChange?.(upstream, { before, error });
    },
  };
}
