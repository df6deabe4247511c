import type { Endpoint, Family } from "../../../services/shared/contract/endpoint.ts";
import { type LiveHead, SOLANA_CHAIN_ID } from "../../../services/shared/grpc/types.ts";
import type { Clock } from "../../request/clock.ts";
import type { FamilyHeads } from "./family-heads.ts";

/** The time in which a chain has one head: responses that were requested in an earlier one may be of an older head. */
export interface HeadEpoch {
  /** Grows with every head that is told; 0 before the first. */
  readonly count: number;
  /** Of the head that was told last. */
  readonly block: number;
  readonly hash: string;
}

export interface HeadEpochsOptions {
  readonly families: ReadonlyMap<Family, FamilyHeads>;
  readonly clock: Clock;
  /** How long a service is followed after the last request of it. */
  readonly idleMs?: number | undefined;
}

interface Epoch extends HeadEpoch {
  count: number;
  block: number;
  hash: string;
  version: string;
}

interface FollowedFamily {
  readonly heads: FamilyHeads;
  readonly epochs: Map<number, Epoch>;
  isFollowed: boolean;
  usedMs: number;
}

/** Longer than a block of any chain, so that a table that is polled keeps its service followed. */
const IDLE_MS = 60_000;

/** The heads of services, as the response cache needs them: followed while anybody asks, without a wait for the first. */
export class HeadEpochs {
  readonly #clock: Clock;
  readonly #idleMs: number;
  readonly #families = new Map<Family, FollowedFamily>();
  readonly #timer: NodeJS.Timeout;

  constructor({ families, clock, idleMs = IDLE_MS }: HeadEpochsOptions) {
    this.#clock = clock;
    this.#idleMs = idleMs;
    for (const [family, heads] of families) {
      const epochs = new Map<number, Epoch>();
      this.#families.set(family, { heads, epochs, isFollowed: false, usedMs: 0 });
      heads.listen({ onHead: (head) => advance(epochs, head) });
    }
    this.#timer = setInterval(() => this.#releaseIdle(), idleMs / 4).unref();
  }

  /**
   * The epoch of the chain that a request is about, the same object for all its heads; undefined where it is about no
   * chain that this gateway knows.
   */
  current({ family, params }: Endpoint, query: string): HeadEpoch | undefined {
    const followed = this.#families.get(family);
    if (followed === undefined) return undefined;
    followed.usedMs = this.#clock.monotonicMs();
    if (!followed.isFollowed) {
      followed.isFollowed = true;
      followed.heads.acquire();
    }
    const chain = family === "solana" ? SOLANA_CHAIN_ID : chainOf(params.chain_id, query);
    return chain === undefined ? undefined : epochOf(followed.epochs, chain);
  }

  close(): void {
    clearInterval(this.#timer);
    for (const followed of this.#families.values()) release(followed);
  }

  #releaseIdle(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const followed of this.#families.values()) {
      if (nowMs - followed.usedMs >= this.#idleMs) release(followed);
    }
  }
}

function release(followed: FollowedFamily): void {
  if (!followed.isFollowed) return;
  followed.isFollowed = false;
  followed.heads.release();
}

function epochOf(epochs: Map<number, Epoch>, chain: number): Epoch {
  let epoch = epochs.get(chain);
  if (epoch === undefined) {
    epoch = { count: 0, block: 0, hash: "", version: "" };
    epochs.set(chain, epoch);
  }
  return epoch;
}

function advance(epochs: Map<number, Epoch>, { chainId, block, hash, version }: LiveHead): void {
  const epoch = epochOf(epochs, chainId);
  // Told again: by another replica, or after a time without users.
  if (epoch.hash === hash && epoch.version === version) return;
  epoch.count += 1;
  epoch.block = block;
  epoch.hash = hash;
  epoch.version = version;
}

type ChainParam = Endpoint["params"][string];

const defaultChains = new WeakMap<ChainParam, number | undefined>();

/** Undefined for a chain that is not declared: the service refuses it, or is newer than this gateway. */
function chainOf(param: ChainParam | undefined, query: string): number | undefined {
  if (param === undefined) return undefined;
  // Most requests name none. A name may be spelt in percent-encoding.
  const sent = /chain_id|%/.test(query) ? new URLSearchParams(query).get("chain_id") : null;
  if (sent !== null) return numberOf(param, sent);
  if (!defaultChains.has(param)) defaultChains.set(param, numberOf(param, undefined));
  return defaultChains.get(param);
}

function numberOf(param: ChainParam, text: string | undefined): number | undefined {
  const { data } = param.safeParse(text);
  return typeof data === "number" ? data : undefined;
}
