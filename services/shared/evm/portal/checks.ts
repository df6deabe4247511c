import { type BloomBits, bloomBits, expectedFalsePositives, hasBits } from "../bloom.ts";
import { MAX_FALSE_POSITIVES } from "../logs/split-by-address.ts";
import type { BlockHeader, Hex, LogFilter, LogRange, RawLog } from "../port.ts";
import { createLogFilter } from "../source/parse.ts";
import type { PortalBlock } from "./block-line.ts";

/** Bloom positions of contracts and events repeat from log to log and from piece to piece: so many are kept. */
const MOST_KEPT = 20_000;

/** As bloomMayContain, with the positions of items kept: each costs a hash. */
export type MayContain = (bloom: Hex, item: Hex) => boolean;

export function createMayContain(mostKept = MOST_KEPT): MayContain {
  const kept = new Map<Hex, BloomBits>();
  return (bloom, item) => {
    let bits = kept.get(item);
    if (bits === undefined) {
      if (kept.size >= mostKept) kept.clear();
      bits = bloomBits(item);
      kept.set(item, bits);
    }
    return hasBits(bloom, bits);
  };
}

/** What of blocks can be checked by themselves. */
export interface PartChecks {
  /** Throws Error where a block is not the filter's, or its bloom excludes one of its logs. */
  checkBlock(block: PortalBlock): void;
}

export function createPartChecks(filter: LogFilter, mayContain: MayContain): PartChecks {
  const isWanted = createLogFilter(filter);
  return {
    checkBlock({ number, logs, logsBloom }) {
      for (const log of logs) {
        if (!isWanted(log)) throw new Error(`log ${log.logIndex} of block ${number} was not asked for`);
        const [topic0] = log.topics;
        if (!mayContain(logsBloom, log.address) || (topic0 !== undefined && !mayContain(logsBloom, topic0)))
          throw new Error(`the bloom of block ${number} excludes its log ${log.logIndex}`);
      }
    },
  };
}

/** Throws Error unless the blocks are all of the range, each the parent of the next. */
export function checkWhole(blocks: readonly PortalBlock[], { fromBlock, toBlock }: LogRange): void {
  if (blocks.length !== toBlock - fromBlock + 1)
    throw new Error(`${blocks.length} blocks came of ${fromBlock} to ${toBlock}`);
  for (const [i, { number, parentHash }] of blocks.entries()) {
    if (number !== fromBlock + i) throw new Error(`block ${fromBlock + i} did not come`);
    const parent = blocks[i - 1];
    if (parent !== undefined && parent.hash !== parentHash)
      throw new Error(`block ${number} follows on ${parentHash}, not on ${parent.hash}`);
  }
}

/** Whether a bloom is empty enough to say that a block without logs of the filter has none. */
export function isTelling({ logsBloom }: BlockHeader, { topics, addresses }: LogFilter): boolean {
  // Of all logs of all contracts, a block without any has an empty bloom.
  if (topics.length === 0 && addresses === undefined) return true;
  const mayBeFalse = (count: number) => Math.min(1, expectedFalsePositives(logsBloom, count));
  const ofTopics = topics.length === 0 ? 1 : mayBeFalse(topics.length);
  const ofAddresses = addresses === undefined ? 1 : mayBeFalse(addresses.length);
  return ofTopics * ofAddresses < MAX_FALSE_POSITIVES;
}

/** How the logs of a block differ from the true ones; undefined where they do not. */
export function findDifference(block: PortalBlock, truth: readonly RawLog[]): string | undefined {
  const count = Math.max(block.logs.length, truth.length);
  for (let i = 0; i < count; i++) {
    const [told, real] = [block.logs[i], truth[i]];
    if (told === undefined || real === undefined || identityOf(told) !== identityOf(real))
      return `log ${Math.min(...[told, real].flatMap((log) => log?.logIndex ?? []))} of block ${block.number}`;
  }
  return undefined;
}

function identityOf({ logIndex, transactionIndex, transactionHash, address, topics, data }: RawLog): string {
  return [logIndex, transactionIndex, transactionHash, address, data, ...topics].join();
}
