/**
 * A node of a bench, as a process of its own: makes full blocks of the Solana devnet's market and serves them, all of
 * them final. Prints one line of JSON when it serves.
 */
import { createGenerator } from "../../deploy/devnet/solana/generator.ts";
import { chainOfBlocks } from "../../deploy/devnet/solana/server/recorded-chain.ts";
import { startRpcServer } from "../../deploy/devnet/solana/server/rpc-server.ts";

/** What the node has made. */
export interface BenchBlocks {
  readonly url: string;
  readonly headSlot: number;
  readonly blocks: number;
  readonly transactions: number;
  readonly votes: number;
  readonly megabytes: number;
  /** What is to be found in them. */
  readonly trades: number;
  readonly liquidity: number;
  readonly supply: number;
}

const [count = 0, transactions = 0, votes = 0, others = 0] = process.argv.slice(2).map(Number);
const FIRST_SLOT = 300_000_000;
const START = 1_763_000_000;

const generator = createGenerator({
  seed: 7,
  time: START,
  slot: FIRST_SLOT - 1,
  transactions,
  others,
  votes,
  skipped: 0,
});
const blocks = new Map<number, Record<string, unknown>>();
const kinds: Record<string, number> = {};
for (let slot = FIRST_SLOT; slot < FIRST_SLOT + count; slot++) {
  const made = generator.make(slot, { time: START + Math.floor((slot - FIRST_SLOT) * 0.4) });
  if (made === undefined) throw new Error(`Slot ${slot} was skipped.`);
  blocks.set(slot, made.raw);
  for (const { events } of made.expected) for (const { kind } of events) kinds[kind] = (kinds[kind] ?? 0) + 1;
}
const chain = chainOfBlocks(blocks);
blocks.clear();
const server = await startRpcServer(chain);
const headSlot = FIRST_SLOT + count - 1;
const first = chain.block(FIRST_SLOT)?.transactions().length ?? 0;
console.log(
  JSON.stringify({
    url: server.url,
    headSlot,
    blocks: count,
    transactions,
    votes,
    megabytes: first / 1e6,
    trades: kinds.trade ?? 0,
    liquidity: (kinds.add_liquidity ?? 0) + (kinds.remove_liquidity ?? 0),
    supply: (kinds.mint ?? 0) + (kinds.burn ?? 0),
  } satisfies BenchBlocks),
);
