import {
  type CheckpointRow,
  COLLECTIONS,
  checkpoints,
  type EntityRow,
  entities,
  entityHistory,
} from "../../../services/lending/store/collections.ts";
import { hasData } from "../../../services/shared/index/evm/checkpoint.ts";
import { headers } from "../../../services/shared/index/evm/headers.ts";
import type { Store } from "../../../services/shared/storage/port.ts";
import { type Findings, RESTART_INGEST, readAgain } from "../finding.ts";
import { lookAtEvmIndex, type OfBlocks } from "./evm-index.ts";

export { COLLECTIONS, checkpoints };

const OF_BLOCKS: readonly OfBlocks[] = [
  { collection: entities, field: "block" },
  { collection: entityHistory, field: "block" },
];
const SERVICE = "lending";

/** One chain of lending: its head, and each of the last written entities against its history. */
export async function lookAtLending(
  view: Store,
  findings: Findings,
  { chainId, samples }: { readonly chainId: number; readonly samples: number },
): Promise<void> {
  const checkpoint = await view.get(checkpoints, { chainId });
  if (!hasData(checkpoint)) return;
  await lookAtEvmIndex({ view, checkpoint, findings, service: SERVICE }, OF_BLOCKS);
  const rows = await view.find(entities, {
    filter: { chainId },
    order: [{ field: "version", direction: "desc" }],
    limit: Math.max(1, samples) * 20,
    via: ["chainId", "version"],
  });
  for (const row of rows) await lookAtEntity(view, findings, { row, checkpoint });
}

async function lookAtEntity(
  view: Store,
  findings: Findings,
  { row, checkpoint }: { row: EntityRow; checkpoint: CheckpointRow },
): Promise<void> {
  const { chainId, kind, id, version, block, blockHash, state } = row;
  const name = `${kind} ${id}`;
  const todo = readAgain(SERVICE, String(chainId));
  findings.require("entities", {
    holds: version <= checkpoint.version,
    what: `${name} is of version ${version}, and the checkpoint is of version ${checkpoint.version}.`,
    todo: RESTART_INGEST,
  });
  if (block === null) return;
  const header = await view.get(headers, { chainId, number: block });
  findings.require("links", {
    holds: header === undefined || header.hash === blockHash,
    what: `${name} was read at block ${block}, ${blockHash}; the index follows ${header?.hash}.`,
    todo,
  });
  const [last] = await view.find(entityHistory, {
    filter: { chainId, kind, id },
    order: [{ field: "hour", direction: "desc" }],
    limit: 1,
  });
  findings.require("entities", {
    holds: last?.state === state,
    what:
      last === undefined
        ? `${name} has a state and no history.`
        : `${name}: its state of block ${block} is not the last one in its history (block ${last.block}).`,
    todo,
  });
}
