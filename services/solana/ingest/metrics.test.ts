import { expect } from "chai";
import { describe, it } from "mocha";
import { createIngestMetrics } from "../../shared/ingest/metrics.ts";
import type { DecodedTransaction, Disagreement } from "../decode/model.ts";
import type { CheckpointRow } from "../store/collections.ts";
import type { IndexedBatch } from "./indexer.ts";
import { solanaMetrics } from "./metrics.ts";
import type { DecodedBlock } from "./read/decoded-block.ts";

const batch: IndexedBatch = {
  tokenRows: [],
  poolRows: [],
  supplyRows: [],
  changes: { tokenRows: [], poolRows: [], supplyRows: [], documents: {} },
};

function block(
  slot: number,
  options: { parentSlot?: number; reasons?: readonly string[]; broken?: number } = {},
): DecodedBlock {
  const disagreements = (options.reasons ?? []).map(
    (reason): Disagreement => ({ instructionIndex: 2, program: "orca-whirlpool", reason }),
  );
  const transaction: DecodedTransaction = {
    ...{ transactionIndex: 0, signature: `s${slot}`, feePayer: "p", events: [], balances: [] },
    disagreements,
  };
  return {
    ...{
      slot,
      blockhash: "h",
      previousBlockhash: "g",
      parentSlot: options.parentSlot ?? slot - 1,
      blockTime: 5,
    },
    transactions: [transaction],
    transactionCount: 40,
    broken: Array.from({ length: options.broken ?? 0 }, (_, i) => ({
      signature: `b${i}`,
      reason: "cut off",
    })),
    changedMetadata: [],
  };
}

describe("metrics of the Solana ingest", () => {
  async function measure(...blocks: DecodedBlock[]) {
    const registry = createIngestMetrics({ name: "solana-ingest" });
    const lines: { message: string; [field: string]: unknown }[] = [];
    const metrics = solanaMetrics(registry, (message, fields) => lines.push({ message, ...fields }));
    const checkpoint = { slot: blocks.at(-1)?.slot ?? 0, time: 5 } as CheckpointRow;
    metrics.onHead(110);
    await metrics.afterBatch?.({ blocks, batch, checkpoint, isFollowing: true });
    metrics.afterRollback?.(checkpoint);
    const text = await registry.render();
    const value = (name: string) =>
      Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, "m").exec(text)?.[1] ?? Number.NaN);
    return { lines, value, text };
  }

  it("count blocks, skipped slots, transactions and forks, and show how far behind the index is", async () => {
    const { value, lines } = await measure(block(101), block(104, { parentSlot: 101 }));
    expect(value("solana_blocks_total")).to.equal(2);
    expect(value("solana_skipped_slots_total")).to.equal(2);
    expect(value("solana_transactions_total")).to.equal(80);
    expect(value("solana_lag_slots")).to.equal(6);
    expect(value("ingest_indexed_block")).to.equal(104);
    expect(value("ingest_chain_head_block")).to.equal(110);
    expect(value("solana_forks_total")).to.equal(1);
    expect(value("solana_decode_failures_total")).to.equal(0);
    expect(lines).to.deep.equal([]);
  });

  it("count, and log with the signature, transactions that could not be decoded or whose event disagrees", async () => {
    const { value, lines, text } = await measure(
      block(101, { reasons: ["event has 5, the pool moved 6"], broken: 1 }),
    );
    expect(value("solana_decode_failures_total")).to.equal(1);
    expect(text).to.match(/^solana_disagreements_total\{program="orca-whirlpool",[^}]*\} 1$/m);
    expect(lines).to.deep.equal([
      { message: "a transaction could not be decoded", slot: 101, signature: "b0", reason: "cut off" },
      {
        ...{ message: "a transaction's event disagrees with its transfers", slot: 101, signature: "s101" },
        ...{ program: "orca-whirlpool", instructionIndex: 2, reason: "event has 5, the pool moved 6" },
      },
    ]);
  });

  it("log a flood of them as a few lines, and count them all", async () => {
    const { value, lines } = await measure(block(101, { broken: 500 }));
    expect(value("solana_decode_failures_total")).to.equal(500);
    expect(lines).to.have.length(21);
    expect(lines.at(-1)).to.include({ count: 480 });
  });
});
