import type { Voter } from "../../shared/rpc-client/client.ts";
import type { Clock } from "../../shared/rpc-client/endpoint/clock.ts";
import type { SourceLog } from "../../shared/rpc-client/endpoint/endpoint.ts";
import type { Pool } from "../../shared/rpc-client/pool.ts";
import { findInconsistencies, type Inconsistency } from "./linkage.ts";
import {
  type BlockLink,
  type SlotRange,
  type SolanaBlock,
  type SolanaTransaction,
  SolanaUpstreamError,
} from "./port.ts";
import { createBlockRequest, createLinkRequest, createProducedSlotsRequest } from "./requests.ts";

export interface BlockFetcherOptions {
  readonly pool: Pool;
  /** Each endpoint alone, to compare their responses. */
  readonly voters: readonly Voter[];
  readonly clock: Clock;
  readonly log: SourceLog;
  /** Pause after a retry at every endpoint failed. */
  readonly backoffMs: number;
  /** How long endpoints may contradict themselves, or lack blocks that must exist. */
  readonly patienceMs: number;
  readonly lifetime: AbortSignal;
}

/** Slots searched at first for the block that follows the range. */
const LOOK_AHEAD = 32;
/** Endpoints that must agree on a skipped slot, if there are so many. */
const CONFIRMING_ENDPOINTS = 2;

/** An inconsistency, with the endpoint that reported it if a single one did. */
interface ReportedInconsistency extends Inconsistency {
  readonly voter?: Voter;
}

/** What is known of a range so far. */
interface RangeState {
  readonly range: SlotRange;
  /** What is kept of each transaction. */
  readonly read: (transaction: SolanaTransaction) => unknown;
  readonly about: string;
  readonly blocks: Map<number, SolanaBlock<unknown>>;
  /** Slots in which at least one endpoint had a block. */
  readonly seen: Set<number>;
  /** The first block beyond the range: needed if the last slot has none. */
  next: BlockLink | undefined;
}

/** The produced blocks of a range, with the proof that nothing is missing; see SolanaSource.blocks. */
export function createBlockFetcher(
  options: BlockFetcherOptions,
): <T>(range: SlotRange, read: (transaction: SolanaTransaction) => T) => Promise<SolanaBlock<T>[]> {
  const { pool, voters, clock, log, lifetime } = options;

  async function readBlocks(
    from: Pool,
    slots: readonly number[],
    { range, read, about }: RangeState,
  ): Promise<(SolanaBlock<unknown> | null)[]> {
    const requests = slots.map((slot) => createBlockRequest(slot, range.commitment, read));
    // Several MB each: one a request.
    return from.request(requests, `getBlock ${about}`, { maxBatch: 1 });
  }

  /** The first block after the range's end, or undefined if there is none yet. */
  async function findNext(from: Pool, { range, about }: RangeState): Promise<BlockLink | undefined> {
    const { toSlot, commitment } = range;
    let window: readonly [number, number] = [toSlot + 1, toSlot + LOOK_AHEAD];
    for (;;) {
      const [found] = await from.request(
        [createProducedSlotsRequest(window, commitment)],
        `getBlocks after ${about}`,
      );
      let slot = found?.slots[0];
      while (slot !== undefined) {
        const [link] = await from.request([createLinkRequest(slot, commitment)], `getBlock after ${about}`);
        if (link === undefined || link === null) return undefined;
        // The list lacked its parent, which therefore follows the range.
        if (link.parentSlot <= toSlot) return link;
        slot = link.parentSlot;
      }
      if (found === undefined || found.head <= window[1]) return undefined;
      window = [window[1] + 1, window[1] + 2 * (window[1] - window[0] + 1)];
    }
  }

  /** The slots that an endpoint lists as produced; undefined if its own head is behind them. */
  async function listProduced(voter: Voter, slots: readonly number[], { range, about }: RangeState) {
    const span = [slots[0] as number, slots[slots.length - 1] as number] as const;
    const [found] = await voter.pool.request(
      [createProducedSlotsRequest(span, range.commitment)],
      `getBlocks ${about}`,
    );
    if (found === undefined || found.head < span[1]) return undefined;
    const produced = new Set(found.slots);
    return slots.filter((slot) => produced.has(slot));
  }

  /** Slots without a block that endpoints list as produced, from two endpoints if there are two. */
  async function findListed(state: RangeState): Promise<ReportedInconsistency[]> {
    const gaps = listGaps(state);
    if (gaps.length === 0) return [];
    const inconsistencies: ReportedInconsistency[] = [];
    let responses = 0;
    let failure: unknown;
    for (const voter of listUsable(voters)) {
      if (responses === CONFIRMING_ENDPOINTS) break;
      const listed = await listProduced(voter, gaps, state).catch((error: unknown) => {
        failure = error;
        return undefined;
      });
      if (listed === undefined) continue;
      responses += 1;
      const reason = `slot ${listed.join(", ")} has no block, and ${voter.host} lists it`;
      if (listed.length > 0) inconsistencies.push({ slots: listed, reason, voter });
    }
    if (responses > 0) return inconsistencies;
    if (failure !== undefined) throw failure;
    return [{ slots: [], reason: `no endpoint has reached slot ${gaps[gaps.length - 1]}` }];
  }

  /** Reads inconsistent slots again from one endpoint, and accepts its response. True = it had new blocks. */
  async function readAgain(
    state: RangeState,
    inconsistencies: readonly Inconsistency[],
    voter: Voter,
  ): Promise<boolean> {
    const { range, blocks } = state;
    const slots = [...new Set(inconsistencies.flatMap((inconsistency) => inconsistency.slots))];
    const inside = slots.filter((slot) => slot <= range.toSlot);
    const found = await readBlocks(voter.pool, inside, state);
    let isNew = false;
    for (const [i, slot] of inside.entries()) {
      const block = found[i] ?? undefined;
      if (block === undefined) {
        blocks.delete(slot);
        continue;
      }
      blocks.set(slot, block);
      if (state.seen.has(slot)) continue;
      state.seen.add(slot);
      isNew = true;
      log("a slot reported as skipped has a block", { slot, host: voter.host });
    }
    if (slots.some((slot) => slot > range.toSlot) || !blocks.has(range.toSlot))
      state.next = await findNext(voter.pool, state);
    return isNew;
  }

  /** What is still inconsistent; empty = the range is proven. */
  async function verify(state: RangeState): Promise<readonly ReportedInconsistency[]> {
    const { range, blocks } = state;
    if (!blocks.has(range.toSlot)) {
      state.next ??= await findNext(pool, state);
      if (state.next === undefined)
        return [
          {
            slots: [range.toSlot],
            reason: `slot ${range.toSlot} has no block, and no later block exists yet`,
          },
        ];
    } else state.next = undefined;
    const links: BlockLink[] = sortBySlot(blocks);
    if (state.next !== undefined) links.push(state.next);
    const inconsistencies = findInconsistencies(links, range.fromSlot);
    return inconsistencies.length > 0 ? inconsistencies : findListed(state);
  }

  /** Every block of the range that endpoints return at once. */
  async function readRange({ range, read }: Pick<RangeState, "range" | "read">): Promise<RangeState> {
    const { fromSlot, toSlot } = range;
    const about = fromSlot === toSlot ? `slot ${fromSlot}` : `slots ${fromSlot}-${toSlot}`;
    const state: RangeState = { range, read, about, blocks: new Map(), seen: new Set(), next: undefined };
    const slots = Array.from({ length: toSlot - fromSlot + 1 }, (_, i) => fromSlot + i);
    for (const block of await readBlocks(pool, slots, state)) {
      if (block === null) continue;
      state.blocks.set(block.slot, block);
      state.seen.add(block.slot);
    }
    return state;
  }

  /** Retries at one endpoint; waits once all of them failed. True = it had new blocks. */
  async function retry(
    state: RangeState,
    inconsistencies: readonly ReportedInconsistency[],
    attempt: number,
  ): Promise<boolean> {
    const candidates = listUsable(voters);
    const voter = inconsistencies[0]?.voter ?? (candidates[attempt % candidates.length] as Voter);
    const isNew = await readAgain(state, inconsistencies, voter).catch((error: unknown) => {
      if (!(error instanceof SolanaUpstreamError)) throw error;
      return false;
    });
    if (!isNew && (attempt + 1) % candidates.length === 0) await clock.sleep(options.backoffMs, lifetime);
    return isNew;
  }

  return async <T>(range: SlotRange, read: (transaction: SolanaTransaction) => T) => {
    if (range.toSlot < range.fromSlot) return [];
    const state = await readRange({ range, read });
    const { about } = state;
    let inconsistentSince = clock.now();
    for (let attempt = 0; ; attempt++) {
      const inconsistencies = await verify(state);
      const [first] = inconsistencies;
      if (first === undefined) return sortBySlot(state.blocks as ReadonlyMap<number, SolanaBlock<T>>);
      if (lifetime.aborted) throw new SolanaUpstreamError(`solana: ${about} cancelled: the source is closed`);
      if (clock.now() - inconsistentSince >= options.patienceMs) {
        const hosts = voters.map(({ host }) => host).join(", ");
        throw new SolanaUpstreamError(
          `solana: ${about} cannot be read completely from ${hosts}: ${first.reason}`,
        );
      }
      if (await retry(state, inconsistencies, attempt)) inconsistentSince = clock.now();
    }
  };
}

function sortBySlot<T>(blocks: ReadonlyMap<number, SolanaBlock<T>>): SolanaBlock<T>[] {
  return [...blocks.values()].sort((a, b) => a.slot - b.slot);
}

function listGaps({ range, blocks }: RangeState): number[] {
  const gaps: number[] = [];
  for (let slot = range.fromSlot; slot <= range.toSlot; slot++) if (!blocks.has(slot)) gaps.push(slot);
  return gaps;
}

/** Endpoints in service; all of them if none is. */
function listUsable(voters: readonly Voter[]): readonly Voter[] {
  const usable = voters.filter((voter) => voter.isUsable());
  return usable.length > 0 ? usable : voters;
}
