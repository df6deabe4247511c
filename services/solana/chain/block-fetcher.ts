import type { Voter } from "../../shared/rpc-client/client.ts";
import type { Clock } from "../../shared/rpc-client/endpoint/clock.ts";
import type { SourceLog } from "../../shared/rpc-client/endpoint/endpoint.ts";
import type { Pool } from "../../shared/rpc-client/pool.ts";
import { findInconsistencies, type Inconsistency } from "./linkage.ts";
import { type BlockLink, type Commitment, type SolanaBlock, SolanaUpstreamError } from "./port.ts";
import { createBlockRequest, createLinkRequest, createProducedSlotsRequest } from "./requests.ts";

export interface BlockFetcherOptions {
  readonly pool: Pool;
  /** Each endpoint alone: what one says is held against another. */
  readonly voters: readonly Voter[];
  readonly clock: Clock;
  readonly log: SourceLog;
  /** Pause after every endpoint was asked again in vain. */
  readonly backoffMs: number;
  /** How long endpoints may contradict themselves, or not have what they should. */
  readonly patienceMs: number;
  readonly lifetime: AbortSignal;
}

export interface SlotRange {
  readonly fromSlot: number;
  /** Inclusive. */
  readonly toSlot: number;
  readonly commitment: Commitment;
}

/** How far beyond the range the block that follows is looked for at first. */
const LOOK_AHEAD = 32;
/** Endpoints that have to agree on a skipped slot, where there are so many. */
const CONFIRMING_ENDPOINTS = 2;

/** A doubt, with the endpoint that raised it where it was one. */
interface ReportedInconsistency extends Inconsistency {
  readonly voter?: Voter;
}

/** What is known of a range so far. */
interface RangeState {
  readonly range: SlotRange;
  readonly about: string;
  readonly blocks: Map<number, SolanaBlock>;
  /** Slots in which any endpoint had a block. */
  readonly seen: Set<number>;
  /** The first block beyond the range: needed where the last slot has none. */
  next: BlockLink | undefined;
}

/** The produced blocks of a range, with the proof that nothing is missing; see SolanaSource.blocks. */
export function createBlockFetcher(
  options: BlockFetcherOptions,
): (range: SlotRange) => Promise<SolanaBlock[]> {
  const { pool, voters, clock, log, lifetime } = options;

  async function readBlocks(
    from: Pool,
    slots: readonly number[],
    { range, about }: RangeState,
  ): Promise<(SolanaBlock | null)[]> {
    const questions = slots.map((slot) => createBlockRequest(slot, range.commitment));
    // Several MB each: one a request.
    return from.request(questions, `getBlock ${about}`, { maxBatch: 1 });
  }

  /** The first block after the range's end, or undefined where there is none yet. */
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
        // The list lacked its parent: that one follows the range.
        if (link.parentSlot <= toSlot) return link;
        slot = link.parentSlot;
      }
      if (found === undefined || found.head <= window[1]) return undefined;
      window = [window[1] + 1, window[1] + 2 * (window[1] - window[0] + 1)];
    }
  }

  /** Which of the slots an endpoint lists as produced; undefined where it has not come so far itself. */
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

  /** Slots without a block that are listed as produced: two endpoints are asked where there are two. */
  async function findListed(findings: RangeState): Promise<ReportedInconsistency[]> {
    const gaps = listGaps(findings);
    if (gaps.length === 0) return [];
    const doubts: ReportedInconsistency[] = [];
    let heard = 0;
    let failure: unknown;
    for (const voter of listUsable(voters)) {
      if (heard === CONFIRMING_ENDPOINTS) break;
      const listed = await listProduced(voter, gaps, findings).catch((error: unknown) => {
        failure = error;
        return undefined;
      });
      if (listed === undefined) continue;
      heard += 1;
      const reason = `slot ${listed.join(", ")} has no block, and ${voter.host} lists it`;
      if (listed.length > 0) doubts.push({ slots: listed, reason, voter });
    }
    if (heard > 0) return doubts;
    if (failure !== undefined) throw failure;
    return [{ slots: [], reason: `no endpoint that was asked has come to slot ${gaps[gaps.length - 1]}` }];
  }

  /** Reads doubtful slots again from one endpoint alone, and takes its word for them. True = there was more to be found. */
  async function readAgain(
    findings: RangeState,
    doubts: readonly Inconsistency[],
    voter: Voter,
  ): Promise<boolean> {
    const { range, blocks } = findings;
    const slots = [...new Set(doubts.flatMap((doubt) => doubt.slots))];
    const inside = slots.filter((slot) => slot <= range.toSlot);
    const found = await readBlocks(voter.pool, inside, findings);
    let isNew = false;
    for (const [i, slot] of inside.entries()) {
      const block = found[i] ?? undefined;
      if (block === undefined) {
        blocks.delete(slot);
        continue;
      }
      blocks.set(slot, block);
      if (findings.seen.has(slot)) continue;
      findings.seen.add(slot);
      isNew = true;
      log("a slot called skipped has a block", { slot, host: voter.host });
    }
    if (slots.some((slot) => slot > range.toSlot) || !blocks.has(range.toSlot))
      findings.next = await findNext(voter.pool, findings);
    return isNew;
  }

  /** What still has to be explained; none = the range is proven. */
  async function examine(findings: RangeState): Promise<readonly ReportedInconsistency[]> {
    const { range, blocks } = findings;
    if (!blocks.has(range.toSlot)) {
      findings.next ??= await findNext(pool, findings);
      if (findings.next === undefined)
        return [{ slots: [range.toSlot], reason: `slot ${range.toSlot} has no block, and none follows yet` }];
    } else findings.next = undefined;
    const links: BlockLink[] = sortBySlot(blocks);
    if (findings.next !== undefined) links.push(findings.next);
    const doubts = findInconsistencies(links, range.fromSlot);
    return doubts.length > 0 ? doubts : findListed(findings);
  }

  /** Every block of the range that is to be had at once. */
  async function start(range: SlotRange): Promise<RangeState> {
    const { fromSlot, toSlot } = range;
    const about = fromSlot === toSlot ? `slot ${fromSlot}` : `slots ${fromSlot}-${toSlot}`;
    const findings: RangeState = { range, about, blocks: new Map(), seen: new Set(), next: undefined };
    const slots = Array.from({ length: toSlot - fromSlot + 1 }, (_, i) => fromSlot + i);
    for (const block of await readBlocks(pool, slots, findings)) {
      if (block === null) continue;
      findings.blocks.set(block.slot, block);
      findings.seen.add(block.slot);
    }
    return findings;
  }

  /** Asks one endpoint about the doubts; after all of them in vain, waits. True = it had something new. */
  async function pursue(
    findings: RangeState,
    doubts: readonly ReportedInconsistency[],
    attempt: number,
  ): Promise<boolean> {
    const candidates = listUsable(voters);
    const voter = doubts[0]?.voter ?? (candidates[attempt % candidates.length] as Voter);
    const isNew = await readAgain(findings, doubts, voter).catch((error: unknown) => {
      if (!(error instanceof SolanaUpstreamError)) throw error;
      return false;
    });
    if (!isNew && (attempt + 1) % candidates.length === 0) await clock.sleep(options.backoffMs, lifetime);
    return isNew;
  }

  return async (range) => {
    const findings = await start(range);
    const { about } = findings;
    let doubtsSince = clock.now();
    for (let attempt = 0; ; attempt++) {
      const doubts = await examine(findings);
      const [first] = doubts;
      if (first === undefined) return sortBySlot(findings.blocks);
      if (lifetime.aborted) throw new SolanaUpstreamError(`solana: ${about} given up: the source is closed`);
      if (clock.now() - doubtsSince >= options.patienceMs) {
        const hosts = voters.map(({ host }) => host).join(", ");
        throw new SolanaUpstreamError(`solana: ${about} is not to be had whole at ${hosts}: ${first.reason}`);
      }
      if (await pursue(findings, doubts, attempt)) doubtsSince = clock.now();
    }
  };
}

function sortBySlot(blocks: ReadonlyMap<number, SolanaBlock>): SolanaBlock[] {
  return [...blocks.values()].sort((a, b) => a.slot - b.slot);
}

function listGaps({ range, blocks }: RangeState): number[] {
  const gaps: number[] = [];
  for (let slot = range.fromSlot; slot <= range.toSlot; slot++) if (!blocks.has(slot)) gaps.push(slot);
  return gaps;
}

/** Those in service; the others are still better than nobody. */
function listUsable(voters: readonly Voter[]): readonly Voter[] {
  const usable = voters.filter((voter) => voter.isUsable());
  return usable.length > 0 ? usable : voters;
}
