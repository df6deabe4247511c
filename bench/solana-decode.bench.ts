/**
 * npm run bench:solana-decode — transactions a second that decode/ gets through on one core, over the recorded set:
 * six in ten trade on an exchange, where a block of mainnet is mostly votes. Each round decodes transactions that
 * were parsed for it, as those of a block are: strings whose hashes are not computed yet. BENCH_ROUNDS scales it.
 */

import { recordFigures } from "../services/shared/testkit/bench-record.ts";
import type { SolanaTransaction } from "../services/solana/chain/port.ts";
import { decodeBlock } from "../services/solana/decode/decode.ts";
import { hasRecorded, readRecordedTransactions } from "../services/solana/decode/test/recorded.ts";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 60);
/** Copies of the set in a block. */
const COPIES = 20;
/** Rounds before the clock starts: the compiler needs some. */
const WARM_UP = 10;
const GOAL_PER_SECOND = 20_000;

if (!hasRecorded())
  throw new Error("The recorded transactions are not beside the repository (../shared/data).");
const text = JSON.stringify(
  readRecordedTransactions()
    .map(({ transaction }) => transaction)
    .filter((transaction) => typeof transaction === "object"),
);

const rates: number[] = [];
let rows = 0;
for (let round = 0; round < WARM_UP + ROUNDS; round++) {
  const transactions = Array.from({ length: COPIES }, () => JSON.parse(text) as SolanaTransaction[]).flat();
  const block = {
    slot: 1,
    blockhash: "",
    previousBlockhash: "",
    parentSlot: 0,
    blockTime: null,
    transactions,
  };
  const startedMs = cpuMs();
  const decoded = decodeBlock(block);
  const tookMs = cpuMs() - startedMs;
  rows = decoded.transactions.reduce((sum, { events }) => sum + events.length, 0);
  if (round >= WARM_UP) rates.push((transactions.length / tookMs) * 1000);
}

rates.sort((a, b) => a - b);
const median = rates[Math.floor(rates.length / 2)] as number;
const slowest = rates[0] as number;
console.log(
  `decoded: ${Math.round(median)} transactions/s a core, slowest round ${Math.round(slowest)}; ${rows} rows a round`,
);
recordFigures("solana-decode", [
  {
    name: "recorded transactions decoded on one core",
    value: median,
    unit: "transactions/s",
    goal: { atLeast: GOAL_PER_SECOND },
  },
]);
if (median < GOAL_PER_SECOND) {
  console.log(`  not reached: ${GOAL_PER_SECOND} transactions/s`);
  process.exitCode = 1;
}

/** Of this process, collector included: what others do on the machine does not count. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
