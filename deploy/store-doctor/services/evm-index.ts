import { finalBlocks } from "../../../services/shared/evm/finality/finality.ts";
import type { EvmCheckpoint } from "../../../services/shared/index/evm/checkpoint.ts";
import { type HeaderRow, headers } from "../../../services/shared/index/evm/headers.ts";
import type { Collection, RowOf } from "../../../services/shared/storage/collection.ts";
import type { Filter, Store } from "../../../services/shared/storage/port.ts";
import { type Findings, RESTART_INGEST, readAgain } from "../finding.ts";

/** A collection whose rows are of a block, which a field names. */
export interface OfBlocks {
  readonly collection: Collection;
  readonly field: string;
}

interface EvmScope {
  readonly view: Store;
  readonly checkpoint: EvmCheckpoint;
  readonly findings: Findings;
  readonly service: string;
}

/** What every EVM index has: a head whose hash is that of its header, headers that link, no row beyond it. */
export async function lookAtEvmIndex(scope: EvmScope, rows: readonly OfBlocks[]): Promise<void> {
  const { checkpoint, findings, service, view } = scope;
  const { blockNumber, chainHead, chainId, fromBlock } = checkpoint;
  const todo = readAgain(service, String(chainId));
  const told = `The checkpoint is block ${blockNumber}`;
  findings.require("head", {
    holds: blockNumber >= fromBlock - 1 && chainHead >= blockNumber,
    what: `${told}, its first block ${fromBlock}, the chain's head ${chainHead}: these contradict each other.`,
    todo,
  });
  await lookAtHeaders(scope, todo);
  await lookAtFinal(scope, todo);
  for (const { collection, field } of rows) {
    const beyond = await firstBeyond(view, { collection, field, filter: { chainId } }, blockNumber);
    findings.require("rows beyond the head", {
      holds: beyond === undefined,
      what: `${told}, and ${collection.name} has rows of block ${beyond}.`,
      todo: RESTART_INGEST,
    });
  }
}

/** The first value of a field that is above a bound. */
async function firstBeyond(
  view: Store,
  { collection, field, filter }: OfBlocks & { readonly filter: Filter<RowOf<Collection>> },
  bound: number,
): Promise<number | undefined> {
  const [row] = await view.find(collection, {
    filter: { ...filter, [field]: { gt: bound } } as Filter<RowOf<Collection>>,
    order: [{ field, direction: "asc" }],
    limit: 1,
    fields: [field],
  });
  return row?.[field] as number | undefined;
}

async function lookAtHeaders({ checkpoint, findings, view }: EvmScope, todo: string): Promise<void> {
  const { blockHash, blockNumber, chainId } = checkpoint;
  // Lending keeps block 0 apart from the last ones.
  const stored = await view.find(headers, { filter: { chainId, number: { gt: 0 } } });
  const byNumber = new Map(stored.map((row): [number, HeaderRow] => [row.number, row]));
  const tip = byNumber.get(blockNumber);
  if (tip !== undefined)
    findings.require("links", {
      holds: tip.hash === blockHash,
      what: `The checkpoint names block ${blockNumber} as ${blockHash}, its header is ${tip.hash}.`,
      todo,
    });
  for (const { number, parentHash } of stored) {
    const parent = byNumber.get(number - 1);
    if (parent === undefined) continue;
    findings.require("links", {
      holds: parent.hash === parentHash,
      what: `Block ${number} follows on ${parentHash}, and block ${number - 1} is ${parent.hash}.`,
      todo,
    });
  }
  const [above] = stored.map(({ number }) => number).filter((number) => number > blockNumber);
  findings.require("rows beyond the head", {
    holds: above === undefined,
    what: `The checkpoint is block ${blockNumber}, and headers has rows of block ${above}.`,
    todo: RESTART_INGEST,
  });
}

async function lookAtFinal({ checkpoint, findings, view }: EvmScope, todo: string): Promise<void> {
  const { blockNumber, chainId, genesisHash } = checkpoint;
  const final = await view.get(finalBlocks, { chainId });
  if (final === undefined) return;
  const header = await view.get(headers, { chainId, number: final.number });
  findings.require("chain", {
    holds: final.number <= blockNumber,
    what: `Block ${final.number} is stored as final, and the checkpoint is block ${blockNumber}.`,
    todo,
  });
  findings.require("chain", {
    holds: header === undefined || header.hash === final.hash,
    what: `The final block ${final.number} is ${final.hash}, its header ${header?.hash}: the index has rows of two chains.`,
    todo,
  });
  findings.require("chain", {
    holds: final.number !== 0 || final.hash === genesisHash,
    what: `Block 0 is ${genesisHash} by the checkpoint and ${final.hash} by the final block: the index has rows of two chains.`,
    todo,
  });
}
