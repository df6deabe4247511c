import { audit } from "../../../services/evm-dex/audit/audit.ts";
import type { CheckName } from "../../../services/evm-dex/audit/checks.ts";
import type { ChainDeployments } from "../../../services/evm-dex/deployments.ts";
import {
  type CheckpointRow,
  COLLECTIONS,
  checkpoints,
  discoveries,
  feedAnswers,
  poolEvents,
  priceLinks,
  priceStarts,
} from "../../../services/evm-dex/store/collections.ts";
import { lpEvents, walletRequests } from "../../../services/evm-dex/store/v2-collections.ts";
import { hasData } from "../../../services/shared/index/evm/checkpoint.ts";
import { headers } from "../../../services/shared/index/evm/headers.ts";
import type { Store } from "../../../services/shared/storage/port.ts";
import { type Findings, readAgain } from "../finding.ts";
import { lookAtEvmIndex, type OfBlocks } from "./evm-index.ts";

export { COLLECTIONS, checkpoints };

/** The journals, whose rows beyond the checkpoint an interrupted write leaves. */
const JOURNALS: readonly OfBlocks[] = [poolEvents, lpEvents, priceLinks, feedAnswers].map((collection) => ({
  collection,
  field: "blockNumber",
}));
/** What the audit sees in the store alone, and an operator waits for. */
const CHECKS: ReadonlySet<CheckName> = new Set(["rollups", "v2-rollups", "users", "states"]);
/** Events whose blocks are compared with the headers. */
const EVENTS = 200;
/** Differences of a pool that are told in full. */
const TOLD = 3;

export interface EvmDexOptions {
  readonly chainId: number;
  readonly deployments: ChainDeployments | undefined;
  readonly samples: number;
  readonly seed: number;
}

/** One chain of evm-dex: its head, journals and sums. */
export async function lookAtEvmDex(
  view: Store,
  findings: Findings,
  { chainId, deployments, samples, seed }: EvmDexOptions,
): Promise<void> {
  const checkpoint = await view.get(checkpoints, { chainId });
  if (!hasData(checkpoint)) return;
  const service = "evm-dex";
  await lookAtEvmIndex({ view, checkpoint, findings, service }, JOURNALS);
  await lookAtBlocksOfEvents(view, findings, checkpoint);
  await lookAtCoverage(view, findings, checkpoint);
  const todo = readAgain(service, String(chainId));
  const options = { store: view, chainId, deployments, pools: samples, seed, checks: CHECKS };
  for await (const { pool, name, tally } of audit(options)) {
    findings.count("sums of pools", tally.values);
    const { differences } = tally;
    if (differences.length === 0) continue;
    const told = differences.slice(0, TOLD).map(({ at, expected, field, stored }) => {
      return `${field} at ${at} is ${stored}, must be ${expected}`;
    });
    const more = differences.length > TOLD ? `; and ${differences.length - TOLD} more` : "";
    findings.fault("sums of pools", {
      what: `${pool} ${name}: ${told.join("; ")}${more}.`,
      todo: `Ask npm run audit -- --chain ${chainId} --pools 50 how far it goes. ${todo}`,
    });
  }
}

/** The newest events are of the blocks that the index knows by their headers. */
async function lookAtBlocksOfEvents(
  view: Store,
  findings: Findings,
  { chainId, blockNumber }: CheckpointRow,
): Promise<void> {
  const known = await view.find(headers, { filter: { chainId }, fields: ["number", "hash"] });
  const hashes = new Map(known.map(({ number, hash }) => [number, hash]));
  const events = await view.find(poolEvents, {
    filter: { chainId, blockNumber: { lte: blockNumber } },
    order: [
      { field: "blockNumber", direction: "desc" },
      { field: "logIndex", direction: "desc" },
    ],
    limit: EVENTS,
    fields: ["blockNumber", "blockHash"],
  });
  for (const { blockHash, blockNumber: number } of events) {
    const hash = hashes.get(number);
    if (hash === undefined) continue;
    findings.require("links", {
      holds: hash === blockHash,
      what: `Events of block ${number} are of ${blockHash}, and the index follows ${hash}: rows of a replaced block.`,
      todo: readAgain("evm-dex", String(chainId)),
    });
  }
}

/** The index covers all from its first block on, and says how far back its pools and prices were read. */
async function lookAtCoverage(
  view: Store,
  findings: Findings,
  { chainId, fromBlock }: CheckpointRow,
): Promise<void> {
  const [early] = await view.find(poolEvents, { filter: { chainId }, limit: 1, fields: ["blockNumber"] });
  findings.count("coverage");
  if (early !== undefined && early.blockNumber < fromBlock)
    findings.note("coverage", {
      what: `The index begins with block ${fromBlock}, and has events from block ${early.blockNumber} on: history that is being merged.`,
      todo: "Nothing while the ingest runs; else start it: it merges the rest and moves the beginning last.",
    });
  const start = await view.get(priceStarts, { chainId });
  if (start !== undefined && !start.isComplete)
    findings.note("coverage", {
      what: "The pools that price tokens before the first block are not all read.",
      todo: "Start the ingest: it reads them before it goes on.",
    });
  for (const { factory, blockNumber } of await view.find(discoveries, { filter: { chainId } })) {
    findings.count("coverage");
    if (blockNumber < fromBlock - 1)
      findings.note("coverage", {
        what: `Pools of ${factory} are known up to block ${blockNumber}, and the index begins with block ${fromBlock}.`,
        todo: "Start the ingest: it scans the rest.",
      });
  }
  const waiting = await view.count(walletRequests, { chainId });
  if (waiting > 0)
    findings.note("unfinished", {
      what: `${waiting} wallets wait for their positions before the index to be read.`,
      todo: "Nothing while the ingest runs; WALLETS_PER_HOUR limits it.",
    });
}
