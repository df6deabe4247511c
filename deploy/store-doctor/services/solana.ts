import type { Picker } from "../../../services/evm-dex/audit/sample.ts";
import type { Store } from "../../../services/shared/storage/port.ts";
import {
  blocks,
  type CheckpointRow,
  COLLECTIONS,
  checkpoints,
  finalBlocks,
  journal,
} from "../../../services/solana/store/collections.ts";
import type { KeptRows } from "../../../services/solana/store/kept-rows.ts";
import { holderRequests, tokens } from "../../../services/solana/store/token-collections.ts";
import { type Findings, RESTART_INGEST, readAgain } from "../finding.ts";
import { lookAtToken } from "./solana-token.ts";

export { COLLECTIONS, checkpoints };

const TODO = readAgain("solana", "solana");
/** It is in most pools, and has the longest lists. */
const SOL = "So11111111111111111111111111111111111111112";

export interface SolanaOptions {
  readonly kept: KeptRows;
  readonly samples: number;
  readonly pick: Picker;
}

/** Solana's index: its head, the blocks that it follows, and sums of some tokens. */
export async function lookAtSolana(
  view: Store,
  findings: Findings,
  { kept, samples, pick }: SolanaOptions,
): Promise<void> {
  const checkpoint = await view.get(checkpoints, { chainId: 0 });
  if (checkpoint === undefined || checkpoint.slot < checkpoint.fromSlot) return;
  await lookAtBlocks(view, findings, checkpoint);
  await lookAtUnfinished(view, findings, checkpoint);
  for (const mint of await chooseTokens(view, { checkpoint, samples, pick }))
    await lookAtToken(view, findings, { mint, checkpoint, kept });
}

async function lookAtBlocks(view: Store, findings: Findings, checkpoint: CheckpointRow): Promise<void> {
  const { blockhash, finalizedSlot, headSlot, slot } = checkpoint;
  findings.require("head", {
    holds: headSlot >= slot && headSlot >= finalizedSlot,
    what: `The checkpoint is slot ${slot}, the cluster's head ${headSlot}, its last final slot ${finalizedSlot}: these contradict each other.`,
    todo: TODO,
  });
  const stored = await view.find(blocks, { order: [{ field: "slot", direction: "asc" }] });
  const tip = stored.find((block) => block.slot === slot);
  findings.require("links", {
    holds: tip?.blockhash === blockhash,
    what: `The checkpoint names slot ${slot} as ${blockhash}, and its block is ${tip?.blockhash ?? "not stored"}.`,
    todo: TODO,
  });
  for (const [i, { parentSlot, slot: number, time }] of stored.entries()) {
    const before = stored[i - 1];
    if (before === undefined) continue;
    findings.require("links", {
      holds: parentSlot === before.slot && time >= before.time,
      what: `The block of slot ${number} follows on slot ${parentSlot}, and the one before it in the index is slot ${before.slot}: a gap, or a replaced block.`,
      todo: TODO,
    });
  }
  const beyond = stored.find((block) => block.slot > slot);
  findings.require("rows beyond the head", {
    holds: beyond === undefined,
    what: `The checkpoint is slot ${slot}, and blocks has rows of slot ${beyond?.slot}.`,
    todo: RESTART_INGEST,
  });
  const final = await view.get(finalBlocks, { chainId: 0 });
  const block = stored.find((each) => each.slot === final?.slot);
  findings.require("chain", {
    // "": the block was not known when it became final.
    holds: block === undefined || final?.blockhash === "" || block.blockhash === final?.blockhash,
    what: `The final slot ${final?.slot} is ${final?.blockhash}, its block ${block?.blockhash}: the index has rows of two clusters.`,
    todo: TODO,
  });
}

async function lookAtUnfinished(view: Store, findings: Findings, { slot }: CheckpointRow): Promise<void> {
  const [open] = await view.find(journal, {
    filter: { toSlot: { gt: slot } },
    limit: 1,
    fields: ["fromSlot", "toSlot"],
  });
  findings.require("rows beyond the head", {
    holds: open === undefined,
    what: `A write of slots ${open?.fromSlot} to ${open?.toSlot} was interrupted: the checkpoint is slot ${slot}.`,
    todo: RESTART_INGEST,
  });
  const waiting = await view.count(holderRequests, {});
  if (waiting > 0)
    findings.note("unfinished", {
      what: `${waiting} tokens wait for all their holders to be read.`,
      todo: "Nothing while the ingest runs.",
    });
}

/** SOL, and the first tokens from random numbers on. */
async function chooseTokens(
  view: Store,
  { checkpoint, pick, samples }: { checkpoint: CheckpointRow; samples: number; pick: Picker },
): Promise<ReadonlySet<string>> {
  const mints = new Set([SOL]);
  const { fromSlot, slot } = checkpoint;
  for (let i = 0; i < samples; i += 1) {
    const from = (fromSlot + pick(slot - fromSlot + 1)) * 65_536;
    const order = [{ field: "number", direction: "asc" }] as const;
    const [token] = await view.find(tokens, {
      filter: { number: { gte: from } },
      order,
      limit: 1,
      fields: ["mint"],
    });
    const [first] =
      token === undefined ? await view.find(tokens, { order, limit: 1, fields: ["mint"] }) : [token];
    if (first !== undefined) mints.add(first.mint);
  }
  return mints;
}
